import type { NodePath, types } from '@babel/core';
import { fault } from './fault.ts';
import type { RuntimeImport } from './runtime-import.ts';
import { constantKey, keyOf, type Key } from './key.ts';
import { unwrap } from './wrappers.ts';

type Member = types.ObjectProperty | types.ObjectMethod;

/**
 * Compiles `{ a: f(), [k()]: g() }` to
 *
 *     (_k => lazyObject({ a: LATER, [_k]: LATER }, _key => {
 *       switch (_key) {
 *         case _k: return g();
 *         case "a": return f();
 *       }
 *     }, 2))(propertyKey(k()))
 *
 * Arrow functions keep `this`, `arguments`, `super` and `new.target` in values the same as around the literal.
 */
export class LiteralCompiler {
  readonly #t: typeof types;
  readonly #literal: NodePath<types.ObjectExpression>;
  readonly #runtime: RuntimeImport;
  readonly #members: Member[] = [];
  /** Cases by the key's `id`. Whether computed keys are equal to other keys is not known before run time. */
  readonly #cases = new Map<string, types.SwitchCase>();
  /** Parameters that hold the values of computed keys, and the expressions of those keys. */
  readonly #parameters: types.Identifier[] = [];
  readonly #arguments: types.Expression[] = [];

  constructor(t: typeof types, literal: NodePath<types.ObjectExpression>, runtime: RuntimeImport) {
    this.#t = t;
    this.#literal = literal;
    this.#runtime = runtime;
  }

  compile(): types.Expression {
    const t = this.#t;
    for (const property of this.#literal.get('properties')) {
      if (property.isObjectProperty()) this.#addProperty(property);
      else if (property.isObjectMethod()) this.#addMethod(property);
      else {
        throw fault(
          property,
          'expected keys that are known without reading an object, got a spread',
          'name the keys: { a: other.a }, or spread into a plain object',
        );
      }
    }
    const key = this.#literal.scope.generateUidIdentifier('key');
    const cases = [...this.#cases.values()];
    // A computed key may be equal to another key at run time. The last one takes precedence, so it is compared first.
    if (this.#parameters.length > 0) cases.reverse();
    const object = t.callExpression(this.#runtime.local('lazyObject'), [
      t.objectExpression(this.#members),
      t.arrowFunctionExpression([key], t.blockStatement([t.switchStatement(t.cloneNode(key), cases)])),
      t.numericLiteral(cases.length),
    ]);
    if (this.#parameters.length === 0) return object;
    return t.callExpression(t.arrowFunctionExpression(this.#parameters, object), this.#arguments);
  }

  #addProperty(property: NodePath<types.ObjectProperty>): void {
    const { node } = property;
    if (!node.computed && !node.shorthand && constantKey(node) === '__proto__') {
      throw fault(
        property,
        "__proto__ in a literal sets the prototype, which can't be lazy",
        "write ['__proto__'] for a key of that name; for a prototype, use Object.setPrototypeOf",
      );
    }
    const key = this.#key(node);
    const value = node.value as types.Expression;
    this.#addLater(
      node,
      key,
      isAnonymous(property.get('value') as NodePath) ? this.#named(key, value) : value,
    );
  }

  #addMethod(method: NodePath<types.ObjectMethod>): void {
    const t = this.#t;
    const { node } = method;
    const key = this.#key(node);
    const rebuilt: types.ObjectMethod = { ...node, key: key.node(), computed: key.computed };
    // Accessors stay accessors. A method that uses `super` stays too, as `super` depends on the object that contains
    // it.
    if (node.kind !== 'method' || usesSuper(method)) {
      this.#members.push(rebuilt);
      return;
    }
    this.#addLater(node, key, this.#take(key, t.removeComments(rebuilt)));
  }

  #addLater(node: Member, key: Key, value: types.Expression): void {
    const t = this.#t;
    const property = t.objectProperty(key.node(), this.#runtime.local('LATER'), key.computed);
    this.#members.push(t.inherits(property, node));
    // Deletes first, so that the last of equal keys determines the order.
    this.#cases.delete(key.id);
    this.#cases.set(key.id, t.switchCase(key.test(), [t.returnStatement(value)]));
  }

  /** An anonymous function or class gets the name of its key, as in any literal. */
  #named(key: Key, value: types.Expression): types.Expression {
    return this.#take(key, this.#t.objectProperty(key.node(), value, key.computed));
  }

  #take(key: Key, member: Member): types.Expression {
    const t = this.#t;
    const node = key.node();
    const object = t.objectExpression([member]);
    return t.memberExpression(object, node, key.computed || !t.isIdentifier(node));
  }

  #key(node: Member): Key {
    const t = this.#t;
    const text = constantKey(node);
    if (text !== undefined) return keyOf(t, node, text);
    const parameter = this.#literal.scope.generateUidIdentifier('k');
    this.#parameters.push(parameter);
    this.#arguments.push(
      t.callExpression(this.#runtime.local('propertyKey'), [node.key as types.Expression]),
    );
    const copy = (): types.Identifier => t.cloneNode(parameter);
    return { id: `[${parameter.name}]`, computed: true, node: copy, test: copy };
  }
}

function isAnonymous(value: NodePath): boolean {
  const { node } = unwrap(value);
  if (node.type === 'ArrowFunctionExpression') return true;
  return (node.type === 'FunctionExpression' || node.type === 'ClassExpression') && node.id == null;
}

function usesSuper(method: NodePath<types.ObjectMethod>): boolean {
  let found = false;
  method.traverse({
    Super(path) {
      found = true;
      path.stop();
    },
    // Classes and nested methods have a `super` of their own.
    Class: (path) => path.skip(),
    ObjectMethod: (path) => path.skip(),
  });
  return found;
}
