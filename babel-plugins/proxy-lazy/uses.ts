import type { NodePath, types } from '@babel/core';
import { fault } from './fault.ts';
import { unwrap, wrapped } from './wrappers.ts';

/** A call of `Proxy.lazy`, and its object literal. */
export interface Use {
  readonly call: NodePath<types.CallExpression>;
  readonly literal: NodePath<types.ObjectExpression>;
}

type Member = NodePath<types.MemberExpression | types.OptionalMemberExpression>;

const CALL_IT = 'call it with an object literal: Proxy.lazy({ key: expression })';

/**
 * Finds all uses in a file, each before those that it contains.
 *
 * @throws for a use that can't be compiled
 */
export function findUses(program: NodePath<types.Program>): Use[] {
  const uses: Use[] = [];
  program.traverse({
    'MemberExpression|OptionalMemberExpression'(path: NodePath) {
      const member = path as Member;
      if (isMember(member, 'lazy') && isGlobalProxy(member.get('object'))) uses.push(useOf(member));
    },
  });
  return uses;
}

function useOf(member: Member): Use {
  const callee = wrapped(member);
  const call = callee.key === 'callee' ? callee.parentPath : null;
  if (member.isOptionalMemberExpression() || call?.isOptionalCallExpression()) {
    throw fault(
      member,
      'expected a plain call, got an optional one',
      `Proxy.lazy is always defined; ${CALL_IT}`,
    );
  }
  if (!call?.isCallExpression()) {
    throw fault(member, 'expected a call, got a reference: Proxy.lazy is no value at run time', CALL_IT);
  }
  const given = call.get('arguments');
  const [first] = given;
  if (first === undefined || given.length > 1) {
    throw fault(call, `expected one argument, got ${given.length}`, CALL_IT);
  }
  const literal = unwrap(first);
  if (literal.isObjectExpression()) return { call, literal };
  throw fault(
    first,
    'expected an object literal, got another expression, whose values would already be built',
    "write the literal here, or use lazy({ key: () => value }) from 'sluice'",
  );
}

/** Whether the object is the global `Proxy`, not a local variable of that name; or `globalThis.Proxy`. */
function isGlobalProxy(object: NodePath): boolean {
  const path = unwrap(object);
  if (isGlobal(path, 'Proxy')) return true;
  return isMember(path, 'Proxy') && isGlobal(unwrap(path.get('object')), 'globalThis');
}

function isGlobal(path: NodePath, name: string): boolean {
  return path.isIdentifier({ name }) && path.scope.getBinding(name) === undefined;
}

function isMember(path: NodePath, name: string): path is Member {
  if (!path.isMemberExpression() && !path.isOptionalMemberExpression()) return false;
  const { computed, property } = path.node;
  if (computed) return property.type === 'StringLiteral' && property.value === name;
  return property.type === 'Identifier' && property.name === name;
}
