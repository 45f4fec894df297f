import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { transformSync, type TransformOptions } from '@babel/core';
import proxyLazy from 'sluice/babel-plugin';
import * as runtime from '../../src/lazy/lazy.ts';

const FIXTURES = path.join(import.meta.dirname, 'fixtures');

/** Where the sources of the fixtures are, for `UPDATE=1`, which writes what comes out as what is expected. */
const SOURCES = path.join(import.meta.dirname, '../../../test/babel/fixtures');

interface Compiled {
  readonly code: string;
  readonly map: SourceMapPayload;
}

function compile(source: string, options: TransformOptions = {}): Compiled {
  const result = transformSync(source, {
    filename: 'input.ts',
    babelrc: false,
    configFile: false,
    plugins: [proxyLazy],
    presets: [['@babel/preset-typescript', { onlyRemoveTypeImports: true }]],
    sourceMaps: true,
    highlightCode: false,
    ...options,
  });
  assert.ok(result?.code != null && result.map);
  return { code: result.code, map: result.map as unknown as SourceMapPayload };
}

const inputs = (kind: string): string[] =>
  readdirSync(path.join(FIXTURES, kind)).filter((name) => name.endsWith('.ts'));
const read = (kind: string, name: string): string => readFileSync(path.join(FIXTURES, kind, name), 'utf8');

for (const name of inputs('output')) {
  test(`output of ${name}`, () => {
    const { code } = compile(read('output', name));
    const expected = name.replace(/ts$/, 'js');
    if (process.env['UPDATE'] === '1') writeFileSync(path.join(SOURCES, 'output', expected), `${code}\n`);
    else assert.equal(`${code}\n`, read('output', expected));
  });
}

for (const name of inputs('throws')) {
  test(`compile error of ${name}`, () => {
    const [position = '', message = ''] = read('throws', name.replace(/ts$/, 'txt')).split('\n');
    assert.throws(
      () => compile(read('throws', name)),
      (error: SyntaxError & { loc: { line: number; column: number } }) => {
        assert.ok(error.message.includes(message), error.message);
        assert.equal(`${error.loc.line}:${error.loc.column}`, position, error.message);
        assert.match(error.message, /> 1 \|/, 'a code frame');
        return true;
      },
    );
  });
}

for (const name of inputs('exec')) {
  for (const kind of ['module', 'script'] as const) {
    test(`what ${name} does, as a ${kind}`, () => {
      const { code } = compile(read('exec', name), {
        sourceType: kind,
        plugins: [proxyLazy, ...(kind === 'module' ? ['@babel/plugin-transform-modules-commonjs'] : [])],
      });
      // oxlint-disable-next-line no-new-func -- it runs what has just been compiled
      const run = new Function('assert', 'require', 'exports', code) as (...args: unknown[]) => void;
      if (kind === 'script' && name === 'this-at-top.ts') return;
      run(assert, (from: string) => (from === 'sluice/lazy' ? runtime : assert.fail(from)), {});
    });
  }
}

test('the run time can come from elsewhere', () => {
  const { code } = compile('Proxy.lazy({ a: 1 });', { plugins: [[proxyLazy, { import: './my-lazy.js' }]] });
  assert.match(code, /from "\.\/my-lazy\.js"/);
});

test('the run time is imported once a file, and not at all where there is nothing lazy', () => {
  const { code } = compile('Proxy.lazy({ a: 1 }); Proxy.lazy({ b: Proxy.lazy({ c: 2 }) });');
  assert.equal(code.match(/import /g)?.length, 1);
  assert.doesNotMatch(compile('const p = new Proxy({}, {});').code, /import/);
});

test('the source map leads from a value to where it was written', () => {
  const source = 'const first = 1;\nconst o = Proxy.lazy({\n  a: 1,\n  b: explode(),\n});';
  const { code, map } = compile(source);
  const lines = code.split('\n');
  const line = lines.findIndex((text) => text.includes('explode'));
  const column = (lines[line] ?? '').indexOf('explode');
  const entry = new SourceMap(map).findEntry(line, column);
  assert.ok('originalLine' in entry);
  assert.deepEqual([entry.originalLine, entry.originalColumn], [3, 5]);
});

test('a CommonJS build can load the plugin', () => {
  const loaded = createRequire(import.meta.url)('sluice/babel-plugin') as { default: unknown };
  assert.equal(typeof loaded.default, 'function');
});

test("the project's own sources are compiled with it", () => {
  const files = readdirSync(path.join(import.meta.dirname, '../../src'), {
    recursive: true,
    encoding: 'utf8',
  });
  const texts = files
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, readFileSync(path.join(import.meta.dirname, '../../src', name), 'utf8')]);
  assert.ok(
    texts.some(([, text]) => text?.includes('_lazyObject(')),
    'something in src is lazy',
  );
  for (const [name, text] of texts)
    assert.doesNotMatch(text ?? '', /^(?!\s*(\*|\/\/|\/\*)).*Proxy\.lazy\(/m, name);
});
