import type { NodePath } from '@babel/core';

/**
 * A compile error with a code frame that points at `path`. What is wrong and what to do are one line, since some tools
 * show the first line only; the place is in `loc` as well, as for syntax errors.
 */
export function fault(path: NodePath, what: string, hint: string): Error {
  const error = path.buildCodeFrameError(`Proxy.lazy: ${what}. Hint: ${hint}.`, SyntaxError);
  return Object.assign(error, { loc: path.node.loc?.start });
}
