import type { ConfigAPI, NodePath, PluginObj, PluginPass, types } from '@babel/core';
import { checkCaptures } from './captures.ts';
import { LiteralCompiler } from './literal-compiler.ts';
import { RuntimeImport } from './runtime-import.ts';
import { findUses, type Use } from './uses.ts';

/** What Babel hands to a plugin; written out, as its own types name only the configuration's part. */
type Babel = ConfigAPI & { readonly types: typeof types };

export interface ProxyLazyOptions {
  /** Module that lazy objects come from at run time; `sluice/lazy` if not set. */
  readonly import?: string;
}

/**
 * Gives `Proxy.lazy({ key: expression })` its meaning: an object on which every key is there, and each value is built
 * when it is first read. README.md says what it does with every kind of property.
 */
export default function proxyLazy(babel: Babel, options: ProxyLazyOptions): PluginObj<PluginPass> {
  babel.assertVersion('^7.22.0 || ^8.0.0');
  const module = options.import ?? 'sluice/lazy';
  return {
    name: 'proxy-lazy',
    visitor: {
      // All at once, on entering the file: other plugins have not yet moved what the checks look at.
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
  // From the last to the first, so that one within another is compiled before it.
  for (const { call, literal } of uses.toReversed()) {
    const compiled = new LiteralCompiler(t, literal, runtime).compile();
    compiled.loc = call.node.loc ?? null;
    call.replaceWith(compiled);
  }
  runtime.insert();
  // Expressions have moved into functions: whoever comes next needs to know which variables those capture.
  program.scope.crawl();
}
