import luaparse, { type CallExpression, type Expression, type Statement } from 'luaparse';
import { OPERATORS } from './operators.ts';
import { one, type LuaFunction, type LuaValue } from './values.ts';

/** Reads a global. A script can't set one: Redis refuses that. */
type Globals = (name: string) => LuaValue;

/** Lua's operator, and the expression for it. */
const BINARY: Readonly<Record<string, (left: string, right: string) => string>> = {
  '+': (left, right) => `o.add(${left},${right})`,
  '-': (left, right) => `o.subtract(${left},${right})`,
  '*': (left, right) => `o.multiply(${left},${right})`,
  '/': (left, right) => `o.divide(${left},${right})`,
  '%': (left, right) => `o.modulo(${left},${right})`,
  '^': (left, right) => `o.power(${left},${right})`,
  '..': (left, right) => `o.concatenate(${left},${right})`,
  '==': (left, right) => `(${left}===${right})`,
  '~=': (left, right) => `(${left}!==${right})`,
  '<': (left, right) => `o.isLess(${left},${right})`,
  '<=': (left, right) => `o.isAtMost(${left},${right})`,
  '>': (left, right) => `o.isLess(${right},${left})`,
  '>=': (left, right) => `o.isAtMost(${right},${left})`,
};

/**
 * Compiles a Lua 5.1 script to a JavaScript function: an interpreter of Lua in JavaScript or WebAssembly takes ten times as
 * long for the bus's scripts. What it does not know it refuses, and the contract of connections is run with Redis too.
 */
export function compile(script: string): (globals: Globals) => LuaFunction {
  const { body } = luaparse.parse(script, { luaVersion: '5.1', encodingMode: 'pseudo-latin1' });
  const code = new Compiler().chunk(body);
  const make = new Function('o', 'one', 'global', code) as (
    operators: typeof OPERATORS,
    first: typeof one,
    globals: Globals,
  ) => LuaFunction;
  return (globals) => make(OPERATORS, one, globals);
}

/** Names of JavaScript's variables by those of Lua's, in a block and those around it. */
type Scope = Map<string, string>;

class Compiler {
  #scopes: Scope[] = [new Map()];
  #names = 0;

  chunk(body: readonly Statement[]): string {
    return `return function(){${this.#block(body)}}`;
  }

  #block(body: readonly Statement[], parameters: readonly string[] = []): string {
    return this.#scoped(() => {
      const names = parameters.map((name) => this.#declare(name));
      const before = names.length > 0 ? `let ${names.map((name, at) => `${name}=$[${at}]`).join()};` : '';
      return before + body.map((statement) => this.#statement(statement)).join('');
    });
  }

  #scoped(compileIn: () => string): string {
    this.#scopes.push(new Map());
    const code = compileIn();
    this.#scopes.pop();
    return code;
  }

  #declare(name: string): string {
    this.#names += 1;
    const own = `${name}_${this.#names}`;
    this.#scopes.at(-1)?.set(name, own);
    return own;
  }

  #variable(name: string): string | undefined {
    return this.#scopes.findLast((scope) => scope.has(name))?.get(name);
  }

  #statement(statement: Statement): string {
    switch (statement.type) {
      case 'LocalStatement': {
        const values = this.#values(statement.init, statement.variables.length);
        return `let ${statement.variables.map(({ name }, at) => `${this.#declare(name)}=${values[at]}`).join()};`;
      }
      case 'AssignmentStatement':
        return this.#assignment(statement.variables, statement.init);
      case 'CallStatement':
        return `${this.#call(statement.expression)};`;
      case 'FunctionDeclaration':
        return this.#function(statement);
      case 'ReturnStatement': {
        const [only, ...others] = statement.arguments;
        if (only === undefined) return 'return;';
        if (others.length > 0) return `return ${this.#list(statement.arguments)};`;
        return `return ${isCall(only) ? this.#call(only) : this.#expression(only)};`;
      }
      case 'IfStatement':
        return statement.clauses
          .map((clause) => {
            const block = `{${this.#block(clause.body)}}`;
            return clause.type === 'ElseClause' ? block : `if(${this.#condition(clause.condition)})${block}`;
          })
          .join('else ');
      case 'WhileStatement':
        return `while(${this.#condition(statement.condition)}){${this.#block(statement.body)}}`;
      case 'RepeatStatement':
        // The condition sees what is local to the body.
        return this.#scoped(() => {
          const body = statement.body.map((inner) => this.#statement(inner)).join('');
          return `for(;;){${body}if(${this.#condition(statement.condition)})break;}`;
        });
      case 'DoStatement':
        return `{${this.#block(statement.body)}}`;
      case 'BreakStatement':
        return 'break;';
      case 'ForNumericStatement': {
        const { variable, start, end, step, body } = statement;
        const [from, to, by] = [start, end, step].map((part) =>
          part === null ? '1' : this.#expression(part),
        );
        const [at, last, width] = ['at', 'last', 'step'].map((name) => this.#fresh(name));
        const inner = this.#scoped(() => `let ${this.#declare(variable.name)}=${at};${this.#block(body)}`);
        const goesOn = `${width}>0?${at}<=${last}:${at}>=${last}`;
        return `for(let ${at}=o.add(${from},0),${last}=o.add(${to},0),${width}=${by};${goesOn};${at}+=${width}){${inner}}`;
      }
      case 'ForGenericStatement': {
        const [iterator] = statement.iterators;
        if (iterator === undefined || statement.iterators.length > 1) throw unknown('a list of iterators');
        const [next, got] = [this.#fresh('next'), this.#fresh('got')];
        const begin = `const ${next}=o.callable(${this.#expression(iterator)});`;
        const inner = this.#scoped(() => {
          const names = statement.variables.map(({ name }) => this.#declare(name));
          const step = `const ${got}=o.all(${next}());if(${got}[0]===undefined)break;`;
          return `${step}let ${names.map((name, at) => `${name}=${got}[${at}]`).join()};${this.#block(statement.body)}`;
        });
        return `{${begin}for(;;){${inner}}}`;
      }
      default:
        throw unknown(statement.type);
    }
  }

  #assignment(targets: Extract<Statement, { type: 'AssignmentStatement' }>['variables'], init: Expression[]) {
    const values = this.#values(init, targets.length);
    const names = values.map(() => this.#fresh('value'));
    const assign = targets.map((target, at) => {
      if (target.type !== 'Identifier') return `o.set(${this.#place(target)},${names[at]});`;
      const variable = this.#variable(target.name);
      if (variable === undefined) throw new Error(`expected no global to be set, got ${target.name}`);
      return `${variable}=${names[at]};`;
    });
    return `{const ${names.map((name, at) => `${name}=${values[at]}`).join()};${assign.join('')}}`;
  }

  #function(declared: Extract<Statement, { type: 'FunctionDeclaration' }>): string {
    const { identifier, isLocal } = declared;
    if (identifier?.type !== 'Identifier' || !isLocal) throw unknown('a function that is not local');
    const name = this.#declare(identifier.name);
    return `const ${name}=${this.#expression(declared)};`;
  }

  #condition(expression: Expression): string {
    return `o.isTrue(${this.#expression(expression)})`;
  }

  #expression(expression: Expression): string {
    switch (expression.type) {
      case 'NilLiteral':
        return 'undefined';
      case 'BooleanLiteral':
      case 'NumericLiteral':
      case 'StringLiteral':
        return JSON.stringify(expression.value);
      case 'Identifier':
        return this.#variable(expression.name) ?? `global(${JSON.stringify(expression.name)})`;
      case 'BinaryExpression': {
        const write = BINARY[expression.operator];
        if (write === undefined) throw unknown(expression.operator);
        return write(this.#expression(expression.left), this.#expression(expression.right));
      }
      case 'LogicalExpression': {
        const [left, right] = [this.#expression(expression.left), this.#expression(expression.right)];
        const [then, otherwise] = expression.operator === 'and' ? [right, '$'] : ['$', right];
        return `(($)=>o.isTrue($)?${then}:${otherwise})(${left})`;
      }
      case 'UnaryExpression': {
        const argument = this.#expression(expression.argument);
        if (expression.operator === 'not') return `!o.isTrue(${argument})`;
        if (expression.operator === '#') return `o.length(${argument})`;
        if (expression.operator === '-') return `o.negate(${argument})`;
        throw unknown(expression.operator);
      }
      case 'MemberExpression':
      case 'IndexExpression':
        return `o.get(${this.#place(expression)})`;
      case 'CallExpression':
        return `one(${this.#call(expression)})`;
      case 'TableConstructorExpression':
        return this.#table(expression.fields);
      case 'FunctionDeclaration': {
        const names = expression.parameters.map((parameter) => {
          if (parameter.type !== 'Identifier') throw unknown('variable arguments');
          return parameter.name;
        });
        return `((...$)=>{${this.#block(expression.body, names)}})`;
      }
      default:
        throw unknown(expression.type);
    }
  }

  /** A table, and a key. */
  #place(expression: Extract<Expression, { type: 'MemberExpression' | 'IndexExpression' }>): string {
    const base = this.#expression(expression.base);
    if (expression.type === 'IndexExpression') return `${base},${this.#expression(expression.index)}`;
    if (expression.indexer === ':') throw unknown('a method');
    return `${base},${JSON.stringify(expression.identifier.name)}`;
  }

  #call(expression: Expression): string {
    if (!isCall(expression)) throw unknown(expression.type);
    const list = this.#list(expression.arguments);
    return `o.callable(${this.#expression(expression.base)})(...${list})`;
  }

  #table(fields: Extract<Expression, { type: 'TableConstructorExpression' }>['fields']): string {
    const listed = fields.flatMap((field) => (field.type === 'TableValue' ? [field.value] : []));
    const keyed = fields.flatMap((field) => {
      if (field.type === 'TableValue') return [];
      const key = field.type === 'TableKey' ? this.#expression(field.key) : JSON.stringify(field.key.name);
      return [key, this.#expression(field.value)];
    });
    return `o.table(${this.#list(listed)},[${keyed.join()}])`;
  }

  /** All values of the expressions, of which the last may have several. */
  #list(expressions: readonly Expression[]): string {
    const last = expressions.at(-1);
    const single = (last !== undefined && isCall(last) ? expressions.slice(0, -1) : expressions).map(
      (expression) => this.#expression(expression),
    );
    if (last !== undefined && isCall(last)) single.push(`...o.all(${this.#call(last)})`);
    return `[${single.join()}]`;
  }

  /** As many as there are variables for. */
  #values(expressions: readonly Expression[], count: number): string[] {
    if (expressions.length < count && expressions.some(isCall)) throw unknown('a call with several results');
    return Array.from({ length: count }, (_, at) => {
      const expression = expressions[at];
      return expression === undefined ? 'undefined' : this.#expression(expression);
    });
  }

  #fresh(name: string): string {
    this.#names += 1;
    return `$${name}${this.#names}`;
  }
}

function isCall(expression: Expression): expression is CallExpression {
  return expression.type === 'CallExpression';
}

function unknown(what: string): Error {
  return new Error(`expected Lua that the simulation knows, got ${what}`);
}
