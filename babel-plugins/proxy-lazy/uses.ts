import type { NodePath, types } from '@babel/core';
import { fault } from './fault.ts';
import { unwrap, wrapped } from './wrappers.ts';

/** A call of `Proxy.lazy`, and the object literal that it is given. */
export interface Use {
  readonly call: NodePath<types.CallExpression>;
  readonly literal: NodePath<types.ObjectExpression>;
}

type Member = NodePath<types.MemberExpression | types.OptionalMemberExpression>;

const CALL_IT = 'call it with an object literal: Proxy.lazy({ key: expression })';

/** Every use in a file, outer ones before those that they contain. Throws on what can't be compiled. */
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
    throw fault(member, 'expected a plain call, got an optional one', `it is always there; ${CALL_IT}`);
  }
  if (!call?.isCallExpression()) {
    throw fault(member, 'expected a call, got a reference: as a value it does not exist', CALL_IT);
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
    'expected an object literal, got an object that is there already, with its values built',
    "write the literal here, or use lazy({ key: () => value }) from 'sluice'",
  );
}

/** `Proxy`, unless something local has that name; `globalThis.Proxy` gets past a local one. */
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
