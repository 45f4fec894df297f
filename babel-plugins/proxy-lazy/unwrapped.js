const WRAPPERS = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
]);

/**
 * The expression within `as`, `satisfies`, `!` and parentheses. The plugin runs before the preset that takes types away.
 *
 * @param {import('@babel/core').NodePath} path
 */
export function unwrapped(path) {
  let inner = path;
  while (WRAPPERS.has(inner.node?.type)) inner = inner.get('expression');
  return inner;
}

/** @param {import('@babel/core').NodePath} path */
export const isWrapper = (path) => WRAPPERS.has(path.node.type);
