import type { ConfigAPI, NodePath, PluginObj, PluginPass, types } from '@babel/core';
import { checkCaptures } from './captures.ts';
import { LiteralCompiler } from './literal-compiler.ts';
import { RuntimeImport } from './runtime-import.ts';
import { findUses, type Use } from './uses.ts';

/** The argument that Babel passes to a plugin. Declared here, as Babel's own type lacks `types`. */
type Babel = ConfigAPI & { readonly types: typeof types };

export interface ProxyLazyOptions {
  /**
   * Module that the compiled code imports `lazyObject`, `LATER` and `propertyKey` from.
   *
   * @default 'sluice/lazy'
   */
  readonly import?: string;
}

/**
 * Compiles `Proxy.lazy({ key: expression })` to an object that has every key, and builds each value when it is first
 * read. README.md describes every kind of property.
 */
export default function proxyLazy(babel: Babel, options: ProxyLazyOptions): PluginObj<PluginPass> {
  babel.assertVersion('^7.22.0 || ^8.0.0');
  const module = options.import ?? 'sluice/lazy';
  return {
    name: 'proxy-lazy',
    visitor: {
      // Handles all uses on entering the file, before other plugins move the nodes that are checked.
      Program(program) {
        const uses = findUses(program);
        if (uses.length === 0) return;
        for (const { literal } of uses) checkCaptures(literal);
        compile(babel.types, program, uses, module);
      },
    },
  };
}

function compile(t: typeof types, program: NodePath<types.Program>, uses: Use[], module: string): void {
  const runtime = new RuntimeImport(t, program, module);
  // From the last to the first, so that a nested use is compiled before the one that contains it.
  for (const { call, literal } of uses.toReversed()) {
    const compiled = new LiteralCompiler(t, literal, runtime).compile();
    compiled.loc = call.node.loc ?? null;
    call.replaceWith(compiled);
  }
  runtime.insert();
  // Expressions have moved into functions: plugins that run later need the scopes to be up to date.
  program.scope.crawl();
}
