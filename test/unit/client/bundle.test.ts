import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';
import ts from 'typescript';

const MOST_BYTES = 2048;

const root = path.resolve(import.meta.dirname, '../../../..');
const source = path.join(root, 'src/client/client.ts');

async function bundle(options: BuildOptions): Promise<string> {
  // By the name and the file that a page gets it by.
  const { outputFiles } = await build({
    stdin: { contents: `export * from 'sluice/client'`, resolveDir: root },
    bundle: true,
    format: 'esm',
    write: false,
    ...options,
  });
  return outputFiles?.[0]?.text ?? '';
}

test(`sluice/client is less than ${MOST_BYTES} bytes, minified and compressed`, async () => {
  const bytes = gzipSync(await bundle({ minify: true })).length;
  assert.ok(bytes > 300, `it is in the bundle: ${bytes} bytes`);
  assert.ok(bytes < MOST_BYTES, `it is ${bytes} bytes`);
});

test('What is built has the syntax of ES2020, and nothing newer', async () => {
  assert.equal(await bundle({ target: 'esnext' }), await bundle({ target: 'es2020' }));
});

test('Nothing newer than ES2020 is called, and nothing that only browsers or only Node.js have', () => {
  const program = ts.createProgram([source], {
    target: ts.ScriptTarget.ES2020,
    lib: ['lib.es2020.d.ts'],
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
  });
  const faults = ts.getPreEmitDiagnostics(program);
  assert.equal(ts.formatDiagnostics(faults, ts.createCompilerHost({})), '');
  assert.ok(program.getSourceFile(source), 'it has been looked at');
});
