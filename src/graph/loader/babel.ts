import type * as Babel from '@babel/standalone';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { SluiceError } from '../../errors.ts';

const require = createRequire(import.meta.url);

/**
 * Compiles one TypeScript file of a graph to JavaScript with an inline source map: types are removed, and `Proxy.lazy`
 * is compiled. The first call loads Babel from one package: @babel/core would bring 40 packages to each installation.
 *
 * @param file path of the file
 * @param rewriteExtensions whether imports of `./x.ts` become `./x.js`, for output that is written to disk
 * @throws SluiceError BAD_GRAPH with file, line and column of a syntax error
 */
export async function compileTypeScript(file: string, rewriteExtensions: boolean): Promise<string> {
  const { transform } = require('@babel/standalone/babel.min.js') as typeof Babel;
  const { default: proxyLazy } = await import('../../../babel-plugins/proxy-lazy/index.ts');
  try {
    const { code } = transform(await readFile(file, 'utf8'), {
      filename: file,
      sourceFileName: path.basename(file),
      sourceMaps: 'inline',
      babelrc: false,
      configFile: false,
      plugins: [proxyLazy],
      presets: [['typescript', { rewriteImportExtensions: rewriteExtensions }]],
    });
    return code ?? '';
  } catch (error) {
    if (!isSyntaxError(error)) throw error;
    // Babel's message also has the file and a code frame, and counts columns from 0.
    const [first = ''] = error.message.replace(`${file}: `, '').split('\n');
    const what = first.replace(/ \(\d+:\d+\)$/, '');
    throw new SluiceError('BAD_GRAPH', `${file}:${error.loc.line}:${error.loc.column + 1}: ${what}`);
  }
}

interface BabelSyntaxError extends SyntaxError {
  readonly loc: { readonly line: number; readonly column: number };
}

function isSyntaxError(error: unknown): error is BabelSyntaxError {
  return error instanceof SyntaxError && 'loc' in error;
}
