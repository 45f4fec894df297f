import type { NodePath } from '@babel/core';

/** Nodes around an expression that do not change its value. TypeScript's nodes exist until its preset has run. */
const WRAPPERS = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSInstantiationExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
]);

/** The expression inside all wrappers. */
export function unwrap(path: NodePath): NodePath {
  if (!WRAPPERS.has(path.node.type)) return path;
  const inner = path.get('expression');
  return Array.isArray(inner) ? path : unwrap(inner);
}

/** The outermost wrapper of an expression, or itself. */
export function wrapped(path: NodePath): NodePath {
  const { parentPath } = path;
  return parentPath !== null && WRAPPERS.has(parentPath.node.type) ? wrapped(parentPath) : path;
}
