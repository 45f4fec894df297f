import { transformSync, type PluginObj, type TransformOptions } from '@babel/core';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import proxyLazy, { type ProxyLazyOptions } from '../../babel-plugins/proxy-lazy/index.ts';
import * as runtime from '../../src/lazy/lazy.ts';

/** `UPDATE=1` writes the output as the expected output, into the fixtures of the sources. */
const sources = path.join(import.meta.dirname.replace(/\bdist\b/, '.'), 'fixtures');

function compile(
  name: string,
  source: string,
  options: ProxyLazyOptions = {},
  more: TransformOptions = {},
): { code: string; map: SourceMapPayload } {
  const result = transformSync(source, {
    filename: name,
    babelrc: false,
    configFile: false,
    sourceType: name.endsWith('.cjs') ? 'script' : 'module',
    sourceMaps: true,
    highlightCode: false,
    plugins: [[proxyLazy, options]],
    presets: [['@babel/preset-typescript', { onlyRemoveTypeImports: true }]],
    ...more,
  });
  assert.ok(result?.code != null && result.map != null);
  return { code: result.code, map: { ...result.map, file: name } as unknown as SourceMapPayload };
}

function inputs(kind: string): string[] {
  return readdirSync(path.join(sources, kind)).filter((name) => /\.(ts|cjs|js)$/.test(name));
}

function read(kind: string, name: string): string {
  return readFileSync(path.join(sources, kind, name), 'utf8');
}

function assertIsExpected(actual: string, kind: string, name: string): void {
  const expected = name.replace(/\.\w+$/, '.txt');
  if (process.env['UPDATE'] === '1') writeFileSync(path.join(sources, kind, expected), actual);
  assert.equal(actual, read(kind, expected));
}

for (const name of inputs('output')) {
  test(`the plugin compiles ${name} to the output file beside it`, () => {
    assertIsExpected(`${compile(name, read('output', name)).code}\n`, 'output', name);
  });
}

for (const name of inputs('throws')) {
  test(`the plugin refuses ${name} with the code frame and hint in the file beside it`, () => {
    assert.throws(
      () => compile(name, read('throws', name)),
      (error: SyntaxError & { loc?: { line: number } }) => {
        const text = error.message.slice(error.message.indexOf(name));
        assert.match(text, /^.*: Proxy\.lazy: .*\. Hint: /);
        assert.ok(error instanceof SyntaxError);
        assert.equal(error.loc?.line, Number(/^> *(\d+)/m.exec(text)?.[1]));
        assertIsExpected(`${text}\n`, 'throws', name);
        return true;
      },
    );
  });
}

const requireRuntime = (name: string): unknown => (name === 'sluice/lazy' ? runtime : assert.fail(name));

/** Runs a script, or a module made one. */
function run(code: string): void {
  // oxlint-disable-next-line no-new-func -- the code that was just compiled
  const script = new Function('assert', 'require', 'exports', code);
  Reflect.apply(script, {}, [assert, requireRuntime, {}]);
}

const MODULE_AS_SCRIPT = { plugins: [proxyLazy, '@babel/plugin-transform-modules-commonjs'] };

for (const name of inputs('exec')) {
  const isScript = name.endsWith('.cjs');
  test(`the compiled ${name} does what the fixture says`, () => {
    run(compile(name, read('exec', name), {}, isScript ? {} : MODULE_AS_SCRIPT).code);
  });
  test(`${name} compiled for old engines does what the fixture says, too`, () => {
    const presets = [['@babel/preset-env', { targets: 'ie 11', modules: isScript ? false : 'commonjs' }]];
    run(compile(name, read('exec', name), {}, { presets }).code);
  });
}

test('the plugin imports the run time from the module that the option names, once a file, and only where it is used', () => {
  const source = 'Proxy.lazy({ a: 1 }); Proxy.lazy({ b: Proxy.lazy({ c: 2 }) });';
  const { code } = compile('a.ts', source, { import: './my-lazy.js' });
  assert.equal(code.match(/from "\.\/my-lazy\.js"/g)?.length, 1);
  assert.doesNotMatch(compile('a.ts', 'new Proxy({}, {}).lazy({ a: 1 });').code, /import/);
});

test('imports that only values use are kept by a TypeScript preset that drops unused ones', () => {
  const source = "import { f, g } from 'f'; export const o = Proxy.lazy({ a: f(), b: 1 as g });";
  const { code } = compile('a.ts', source, {}, { presets: ['@babel/preset-typescript'] });
  assert.match(code, /import \{ f \} from 'f';/);
  assert.match(code, /from "sluice\/lazy"/);
});

test('later plugins see that values are read inside a function', () => {
  let isInFunction: boolean | undefined;
  const later: PluginObj = {
    visitor: {
      Program: {
        exit(program) {
          const [reference] = program.scope.getBinding('n')?.referencePaths ?? [];
          isInFunction = reference?.getFunctionParent()?.isArrowFunctionExpression();
        },
      },
    },
  };
  compile('a.ts', 'const n = 1; Proxy.lazy({ n });', {}, { plugins: [proxyLazy, () => later] });
  assert.equal(isInFunction, true);
});

test('the source map leads from values, methods and computed keys to where they were written', () => {
  const source = [
    'const o = Proxy.lazy<Shape>({',
    '  a: first(),',
    '  b: { c: [second()] },',
    '  m() { third(); },',
    '  [fourth()]: Proxy.lazy({',
    '    d: fifth(),',
    '  }),',
    '} as Shape);',
  ];
  const { code, map } = compile('a.ts', source.join('\n'));
  const lines = code.split('\n');
  const sourceMap = new SourceMap(map);
  for (const name of ['first', 'second', 'third', 'fourth', 'fifth']) {
    const line = lines.findIndex((text) => text.includes(name));
    const entry = sourceMap.findEntry(line, lines[line]?.indexOf(name) ?? -1);
    assert.ok('originalLine' in entry, name);
    const text = source[entry.originalLine] ?? '';
    assert.equal(text.slice(entry.originalColumn).match(/^\w+/)?.[0], name);
  }
  const call = lines.findIndex((text) => text.includes('_lazyObject({'));
  const entry = sourceMap.findEntry(call, lines[call]?.indexOf('_lazyObject({') ?? -1);
  assert.ok('originalLine' in entry);
  assert.deepEqual([entry.originalLine, entry.originalColumn], [0, 'const o = '.length]);
});

test('a CommonJS configuration names the plugin and has it run, synchronously too', () => {
  const require = createRequire(import.meta.url);
  const { code } =
    transformSync('Proxy.lazy({ a: 1 });', {
      babelrc: false,
      configFile: false,
      plugins: [require.resolve('sluice/babel-plugin')],
    }) ?? {};
  assert.match(code ?? '', /_lazyObject\(/);
});
