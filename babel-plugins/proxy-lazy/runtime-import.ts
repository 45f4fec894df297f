import type { NodePath, types } from '@babel/core';

type Name = 'LATER' | 'lazyObject' | 'propertyKey';

/** The import of the runtime functions that compiled literals call: one for each file, with the names used there. */
export class RuntimeImport {
  readonly #t: typeof types;
  readonly #program: NodePath<types.Program>;
  readonly #module: string;
  readonly #locals = new Map<Name, types.Identifier>();

  constructor(t: typeof types, program: NodePath<types.Program>, module: string) {
    this.#t = t;
    this.#program = program;
    this.#module = module;
  }

  /** @returns a new node of the local name for `name` */
  local(name: Name): types.Identifier {
    let local = this.#locals.get(name);
    if (local === undefined) {
      local = this.#program.scope.generateUidIdentifier(name);
      this.#locals.set(name, local);
    }
    return this.#t.cloneNode(local);
  }

  insert(): void {
    const isModule = this.#program.node.sourceType === 'module';
    this.#program.unshiftContainer('body', isModule ? this.#import() : this.#require());
  }

  #import(): types.Statement {
    const t = this.#t;
    const specifiers = [...this.#locals].map(([name, local]) => t.importSpecifier(local, t.identifier(name)));
    return t.importDeclaration(specifiers, t.stringLiteral(this.#module));
  }

  /** For scripts, which have no imports. */
  #require(): types.Statement {
    const t = this.#t;
    const names = [...this.#locals].map(([name, local]) => t.objectProperty(t.identifier(name), local));
    const required = t.callExpression(t.identifier('require'), [t.stringLiteral(this.#module)]);
    return t.variableDeclaration('const', [t.variableDeclarator(t.objectPattern(names), required)]);
  }
}
