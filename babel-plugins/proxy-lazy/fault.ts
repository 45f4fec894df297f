import type { NodePath } from '@babel/core';

/**
 * A compile error with a code frame that points at `path`. Fault and hint are on one line, since some tools show the
 * first line only. The position is also in `loc`, as for syntax errors.
 */
export function fault(path: NodePath, what: string, hint: string): Error {
  const error = path.buildCodeFrameError(`Proxy.lazy: ${what}. Hint: ${hint}.`, SyntaxError);
  return Object.assign(error, { loc: path.node.loc?.start });
}
