import luaparse, { type Expression, type Statement } from 'luaparse';
import { LIBRARY, OPERATORS } from './library.ts';
import type { LuaTable, LuaValue } from './values.ts';

export type Script = (keys: LuaTable, args: LuaTable) => LuaValue;

/** Lua's operators, with functions that return the JavaScript for each. */
const BINARY: Readonly<Record<string, (left: string, right: string) => string>> = {
  '+': (left, right) => `(o.number(${left})+o.number(${right}))`,
  '-': (left, right) => `(o.number(${left})-o.number(${right}))`,
  '*': (left, right) => `(o.number(${left})*o.number(${right}))`,
  '/': (left, right) => `(o.number(${left})/o.number(${right}))`,
  '%': (left, right) => `o.modulo(o.number(${left}),o.number(${right}))`,
  '..': (left, right) => `(o.text(${left})+o.text(${right}))`,
  '==': (left, right) => `(${left}===${right})`,
  '~=': (left, right) => `(${left}!==${right})`,
  '<': (left, right) => `(o.order(${left},${right})<0)`,
  '<=': (left, right) => `(o.order(${left},${right})<=0)`,
  '>': (left, right) => `(o.order(${left},${right})>0)`,
  '>=': (left, right) => `(o.order(${left},${right})>=0)`,
};

/**
 * Compiles a Lua 5.1 script to a JavaScript function: an interpreter of Lua in JavaScript or WebAssembly takes ten
 * times as long for the bus's scripts. A local variable becomes a JavaScript variable in the same block, with `$`
 * before its name; so do the globals that a script may read. The compiler refuses code that it does not know, also a
 * name that is declared twice in a block. The contract of connections runs with Redis, too.
 */
export function compile(script: string, redis: LuaTable): Script {
  const { body } = luaparse.parse(script, { luaVersion: '5.1', encodingMode: 'pseudo-latin1' });
  const globals = { ...LIBRARY, redis };
  const names = Object.keys(globals).map(variable);
  const code = `'use strict';return ($KEYS,$ARGV)=>{${block(body)}}`;
  const make = new Function('o', ...names, code) as (...values: unknown[]) => Script;
  return make(OPERATORS, ...Object.values(globals));
}

const variable = (name: string): string => `$${name}`;

const block = (body: readonly Statement[]): string => body.map(statement).join('');

function statement(one: Statement): string {
  switch (one.type) {
    case 'LocalStatement': {
      const values = valuesOf(one.init, one.variables.length);
      return `let ${one.variables.map(({ name }, at) => `${variable(name)}=${values[at]}`).join()};`;
    }
    case 'AssignmentStatement': {
      const values = valuesOf(one.init, one.variables.length);
      const assign = one.variables.map((target, at) =>
        target.type === 'Identifier'
          ? `${variable(target.name)}=$[${at}];`
          : `${table(target)}.set(${key(target)},$[${at}]);`,
      );
      return `{const $=[${values.join()}];${assign.join('')}}`;
    }
    case 'CallStatement':
      return `${expression(one.expression)};`;
    case 'FunctionDeclaration': {
      if (one.identifier?.type !== 'Identifier' || !one.isLocal)
        throw unknown('a function that is not local');
      return `const ${variable(one.identifier.name)}=${expression(one)};`;
    }
    case 'ReturnStatement':
      return `return ${valuesOf(one.arguments, 1).join()};`;
    case 'IfStatement':
      return one.clauses
        .map((clause) => {
          const condition = clause.type === 'ElseClause' ? '' : `if(${isTrue(clause.condition)})`;
          return `${condition}{${block(clause.body)}}`;
        })
        .join('else ');
    case 'WhileStatement':
      return `while(${isTrue(one.condition)}){${block(one.body)}}`;
    case 'RepeatStatement':
      // The condition may use local variables of the body.
      return `for(;;){${block(one.body)}if(${isTrue(one.condition)})break;}`;
    case 'BreakStatement':
      return 'break;';
    case 'ForNumericStatement': {
      const { start, end, step } = one;
      const [from, to, by] = [start, end, step].map((part) => (part === null ? '1' : number(part)));
      const at = variable(one.variable.name);
      const goesOn = `step>0?${at}<=last:${at}>=last`;
      return `for(let ${at}=${from},last=${to},step=${by};${goesOn};${at}+=step){${block(one.body)}}`;
    }
    case 'ForGenericStatement': {
      const [iterator, ...others] = one.iterators;
      if (iterator?.type !== 'CallExpression' || iterator.base.type !== 'Identifier' || others.length > 0) {
        throw unknown('an iterator other than pairs and ipairs');
      }
      const names = one.variables.map(({ name }) => variable(name));
      const entries = `o.${iterator.base.name}(${iterator.arguments.map(expression).join()})`;
      return `for(const [${names.join()}] of ${entries}){${block(one.body)}}`;
    }
    default:
      throw unknown(one.type);
  }
}

function expression(one: Expression): string {
  switch (one.type) {
    case 'NilLiteral':
      return 'undefined';
    case 'BooleanLiteral':
    case 'NumericLiteral':
    case 'StringLiteral':
      return JSON.stringify(one.value);
    case 'Identifier':
      return variable(one.name);
    case 'BinaryExpression': {
      const write = BINARY[one.operator];
      if (write === undefined) throw unknown(one.operator);
      return write(expression(one.left), expression(one.right));
    }
    case 'LogicalExpression': {
      const right = expression(one.right);
      const [then, otherwise] = one.operator === 'and' ? [right, '$'] : ['$', right];
      return `(($)=>o.isTrue($)?${then}:${otherwise})(${expression(one.left)})`;
    }
    case 'UnaryExpression': {
      if (one.operator === 'not') return `!${isTrue(one.argument)}`;
      if (one.operator === '#') return `o.length(${expression(one.argument)})`;
      if (one.operator === '-') return `-${number(one.argument)}`;
      throw unknown(one.operator);
    }
    case 'MemberExpression':
    case 'IndexExpression':
      return `${table(one)}.get(${key(one)})`;
    case 'CallExpression':
      return `o.call(${[one.base, ...one.arguments].map(expression).join()})`;
    case 'TableConstructorExpression': {
      const elements = one.fields.map((field) => {
        if (field.type !== 'TableValue') throw unknown('a table with keys');
        return expression(field.value);
      });
      return `new o.LuaTable([${elements.join()}])`;
    }
    case 'FunctionDeclaration': {
      const names = one.parameters.map((parameter) => {
        if (parameter.type !== 'Identifier') throw unknown('variable arguments');
        return variable(parameter.name);
      });
      return `((${names.join()})=>{${block(one.body)}})`;
    }
    default:
      throw unknown(one.type);
  }
}

const isTrue = (one: Expression): string => `o.isTrue(${expression(one)})`;

const number = (one: Expression): string => `o.number(${expression(one)})`;

type Place = Extract<Expression, { type: 'MemberExpression' | 'IndexExpression' }>;

const table = ({ base }: Place): string => `o.table(${expression(base)})`;

function key(place: Place): string {
  if (place.type === 'IndexExpression') return expression(place.index);
  if (place.indexer === ':') throw unknown('a method');
  return JSON.stringify(place.identifier.name);
}

/** Returns as many values as there are variables. */
function valuesOf(expressions: readonly Expression[], count: number): string[] {
  if (expressions.length > count) throw unknown(`${expressions.length} values where ${count} fit`);
  return Array.from({ length: count }, (_, at) => {
    const one = expressions[at];
    return one === undefined ? 'undefined' : expression(one);
  });
}

function unknown(what: string): Error {
  return new Error(`expected Lua that the simulation knows, got ${what}`);
}
