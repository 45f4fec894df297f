/**
 * A compile error that shows the place, and holds it in `loc` as syntax errors do.
 *
 * @param {import('@babel/core').NodePath} path
 * @param {string} what is wrong
 * @param {string} hint what to do about it
 */
export function fault(path, what, hint) {
  const error = path.buildCodeFrameError(`Proxy.lazy: ${what}. ${hint}`);
  return Object.assign(error, { loc: path.node.loc?.start });
}
