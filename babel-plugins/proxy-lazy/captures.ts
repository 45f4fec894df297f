import type { NodePath, types } from '@babel/core';
import { fault } from './fault.ts';

type Literal = NodePath<types.ObjectExpression>;
type Binding = NonNullable<ReturnType<NodePath['scope']['getBinding']>>;

/**
 * Refuses code in values that would behave differently when it runs later, and outside of the function that contains
 * the literal. Functions within a value are not checked: they run when they are called, as in any literal.
 */
export function checkCaptures(literal: Literal): void {
  literal.traverse({
    Function(path) {
      // Only a method's computed name and its decorators run when the value is built.
      path.skipKey('params');
      path.skipKey('body');
    },
    ClassProperty(path) {
      if (path.node.static !== true) path.skipKey('value');
    },
    ClassPrivateProperty(path) {
      if (path.node.static !== true) path.skipKey('value');
    },
    TSType(path) {
      path.skip();
    },
    AwaitExpression(path) {
      throw fault(
        path,
        "await can't stand here: values are built when they are read, and a read does not wait",
        'await before the literal, or let the value be the promise and await it where it is read',
      );
    },
    YieldExpression(path) {
      throw fault(
        path,
        "yield can't stand here: values are built when they are read, outside of the generator",
        'yield before the literal, and use the result in it',
      );
    },
    ReferencedIdentifier(path: NodePath<types.Identifier | types.JSXIdentifier>) {
      checkRead(path, literal);
    },
  });
}

function checkRead(read: NodePath<types.Identifier | types.JSXIdentifier>, literal: Literal): void {
  const { name } = read.node;
  const binding = read.scope.getBinding(name);
  if (binding === undefined || binding.scope.path.isDescendant(literal) || isInOwnKey(read, literal)) return;
  const late = binding.constantViolations.find((assignment) => !isOver(assignment, binding, literal));
  if (late === undefined) return;
  if (late === binding.path) {
    throw fault(
      read,
      `${name} is one variable for all rounds of the loop, and holds another round's value when this one is built`,
      `declare ${name} with const or let`,
    );
  }
  throw fault(
    read,
    `${name} is assigned on line ${late.node.loc?.start.line}, maybe before this value is built`,
    `copy it into a const before the literal, or read it inside a function`,
  );
}

/** Whether the path is in a computed key of the literal itself, which is evaluated at once. */
function isInOwnKey(path: NodePath, literal: Literal): boolean {
  return path.find(({ parentPath }) => parentPath?.parentPath === literal)?.key === 'key';
}

/**
 * Whether an assignment can't happen any more when the literal is evaluated: it stands before the literal, in the same
 * call of the same function, and no loop leads back to it. A loop that has a new variable in each round does not
 * count.
 */
function isOver(assignment: NodePath, binding: Binding, literal: Literal): boolean {
  const { end } = assignment.node;
  const { start } = literal.node;
  if (end == null || start == null || end > start) return false;
  const owner = codeOwner(binding.scope.path);
  if (codeOwner(assignment) !== owner || codeOwner(literal) !== owner) return false;
  return !assignment.findParent(
    (path) => path.isLoop() && path.isDescendant(binding.scope.path) && literal.isDescendant(path),
  );
}

/**
 * The code that runs as a unit: a function, the file, or a part of a class that runs separately from the code around
 * it.
 */
function codeOwner(inside: NodePath): NodePath | null {
  return inside.find(
    (path) =>
      path.isFunction() ||
      path.isProgram() ||
      path.isClassProperty() ||
      path.isClassPrivateProperty() ||
      path.isClassAccessorProperty() ||
      path.isStaticBlock() ||
      path.isTSModuleBlock(),
  );
}
