/**
 * Gives `Proxy.lazy({ key: expression, … })` its meaning: an object on which every key is present, and whose values
 * are built when they are first read. See README.md.
 *
 *     Proxy.lazy({ a: f(), [k()]: g() })
 *
 * becomes, with one function for all values, so that making the object takes no closure per key:
 *
 *     ((_k) => _lazyObject({ a: _LATER, [_k]: _LATER }, (_key) => {
 *       switch (_key) {
 *         case _k: return g();
 *         case 'a': return f();
 *       }
 *     }))(_propertyKey(k()))
 *
 * @typedef {import('@babel/core').NodePath} NodePath
 * @typedef {import('@babel/core').types.Node} Node
 */
import { Captures } from './captures.js';
import { fault } from './fault.js';
import { isWrapper, unwrapped } from './unwrapped.js';

const RUNTIME = 'sluice/lazy';
const IMPORTS = ['lazyObject', 'LATER', 'propertyKey'];

/** @param {import('@babel/core')} babel @param {{ import?: string }} options */
export default function proxyLazy({ types: t }, { import: runtime = RUNTIME }) {
  return {
    name: 'proxy-lazy',
    visitor: {
      CallExpression(path, file) {
        if (!isProxyLazy(path.get('callee'))) return;
        const literal = argumentOf(path);
        new Captures().check(literal);
        path.replaceWith(new Output(t, path, helpersOf(file, path)).of(literal));
      },
      OptionalCallExpression(path) {
        if (isProxyLazy(path.get('callee')))
          throw fault(path, 'it is called always, not optionally', 'Write Proxy.lazy({ … }).');
      },
      'MemberExpression|OptionalMemberExpression'(path) {
        if (!isProxyLazy(path)) return;
        const called = path.findParent((parent) => !isWrapper(parent));
        if (called?.isCallExpression() && unwrapped(called.get('callee')).node === path.node) return;
        if (called?.isOptionalCallExpression()) return;
        throw fault(
          path,
          'it has no value of its own',
          'Call it, with an object literal: Proxy.lazy({ … }).',
        );
      },
    },
  };

  /** Is this `Proxy.lazy`, of the global Proxy? */
  function isProxyLazy(callee) {
    const member = unwrapped(callee);
    if (!member.isMemberExpression() && !member.isOptionalMemberExpression()) return false;
    const object = unwrapped(member.get('object'));
    const { property, computed } = member.node;
    const named = computed
      ? t.isStringLiteral(property, { value: 'lazy' })
      : t.isIdentifier(property, { name: 'lazy' });
    return named && object.isIdentifier({ name: 'Proxy' }) && !object.scope.hasBinding('Proxy', true);
  }

  /** Imports of the run time, once a file. */
  function helpersOf(file, path) {
    const known = file.get(RUNTIME);
    if (known) return known;
    const program = path.findParent((parent) => parent.isProgram());
    const helpers = Object.fromEntries(
      IMPORTS.map((name) => [name, program.scope.generateUidIdentifier(name)]),
    );
    const from = t.stringLiteral(runtime);
    const isModule = program.node.sourceType === 'module';
    program.unshiftContainer(
      'body',
      isModule
        ? t.importDeclaration(
            IMPORTS.map((name) => t.importSpecifier(helpers[name], t.identifier(name))),
            from,
          )
        : t.variableDeclaration('const', [
            t.variableDeclarator(
              t.objectPattern(IMPORTS.map((name) => t.objectProperty(t.identifier(name), helpers[name]))),
              t.callExpression(t.identifier('require'), [from]),
            ),
          ]),
    );
    file.set(RUNTIME, helpers);
    return helpers;
  }
}

/** @returns the literal */
function argumentOf(path) {
  const given = path.get('arguments');
  if (given.length !== 1) {
    throw fault(
      path,
      `expected one object literal, got ${given.length} arguments`,
      'Write Proxy.lazy({ … }).',
    );
  }
  const literal = unwrapped(given[0]);
  if (literal.isObjectExpression()) return literal;
  throw fault(
    given[0],
    'expected an object literal, got another expression',
    'What is built already can be no lazier: write the object here, or use lazy({ key: () => value }) from sluice.',
  );
}

/** What one literal becomes. */
class Output {
  #t;
  #scope;
  #helpers;
  #key;
  /** Computed keys: their parameters and what these get. */
  #parameters = [];
  #arguments = [];
  #properties = [];
  #cases = [];

  constructor(t, path, helpers) {
    this.#t = t;
    this.#scope = path.scope;
    this.#helpers = helpers;
    this.#key = this.#scope.generateUidIdentifier('key');
  }

  of(literal) {
    const t = this.#t;
    for (const member of literal.get('properties')) this.#add(member);
    // The last of several equal keys counts, as in any literal: so it is asked first.
    const build = t.arrowFunctionExpression(
      [this.#key],
      t.blockStatement([t.switchStatement(t.cloneNode(this.#key), this.#cases.toReversed())]),
    );
    const call = t.callExpression(t.cloneNode(this.#helpers.lazyObject), [
      t.objectExpression(this.#properties),
      build,
    ]);
    if (this.#parameters.length === 0) return call;
    return t.callExpression(t.arrowFunctionExpression(this.#parameters, call), this.#arguments);
  }

  #add(member) {
    const t = this.#t;
    if (member.isSpreadElement()) {
      throw fault(
        member,
        'a spread reads its object at once',
        'Name the keys, or spread into an object of its own.',
      );
    }
    const { node } = member;
    if (isPrototype(member)) {
      throw fault(
        member,
        '__proto__ sets the prototype, which is no lazy value',
        "Write ['__proto__'] for a key of that name.",
      );
    }
    if (node.computed && !isConstantKey(node.key)) this.#addComputed(node);
    else if (isAccessor(member)) this.#properties.push(node);
    else {
      const name = nameOf(node.key);
      this.#properties.push(
        t.objectProperty(keyNode(t, node, name), t.cloneNode(this.#helpers.LATER), name === '__proto__'),
      );
      this.#addCase(t.stringLiteral(name), node, node.key);
    }
  }

  #addComputed(node) {
    const t = this.#t;
    const parameter = this.#scope.generateUidIdentifier('k');
    this.#parameters.push(parameter);
    this.#arguments.push(t.callExpression(t.cloneNode(this.#helpers.propertyKey), [node.key]));
    if (t.isObjectMethod(node) && node.kind !== 'method') {
      this.#properties.push({ ...node, key: t.cloneNode(parameter) });
      return;
    }
    this.#properties.push(t.objectProperty(t.cloneNode(parameter), t.cloneNode(this.#helpers.LATER), true));
    this.#addCase(parameter, node, parameter);
  }

  #addCase(test, node, key) {
    const t = this.#t;
    // A method stays one, with its name and its `super`: it is taken from an object that holds nothing else.
    const value = t.isObjectMethod(node)
      ? t.memberExpression(t.objectExpression([{ ...node, key: t.cloneNode(key) }]), t.cloneNode(test), true)
      : node.value;
    this.#cases.push(t.switchCase(t.cloneNode(test), [t.returnStatement(value)]));
  }
}

const isAccessor = (member) => member.isObjectMethod() && member.node.kind !== 'method';

const isConstantKey = (key) => key.type === 'StringLiteral' || key.type === 'NumericLiteral';

/** `{ __proto__: value }`; neither `{ __proto__ }` nor `{ ['__proto__']: value }` nor a method sets a prototype. */
function isPrototype(member) {
  const { node } = member;
  return member.isObjectProperty() && !node.computed && !node.shorthand && nameOf(node.key) === '__proto__';
}

function nameOf(key) {
  if (key.type === 'Identifier') return key.name;
  return String(key.value);
}

/** The key as it was written, for the source map; `__proto__` so that it does not set the prototype. */
function keyNode(t, node, name) {
  if (name === '__proto__') return t.stringLiteral(name);
  return node.computed ? t.stringLiteral(name) : t.cloneNode(node.key);
}
