import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';

const root = path.resolve(import.meta.dirname, '../../../..');

test('An import from a layer above fails the check', (t) => {
  const output = checkLayers(t, {
    'src/bus/bus.ts': `import { hub } from '../hub/hub.ts';\nexport const bus = hub;\n`,
    'src/hub/hub.ts': `export const hub = 1;\n`,
  });
  assert.match(output, /layer-bus: src\/bus\/bus\.ts → src\/hub\/hub\.ts/);
});

test('An import of a type from a layer above fails the check', (t) => {
  const output = checkLayers(t, {
    'src/config.ts': `import type { Hub } from './hub/hub.ts';\nexport const config: Hub = {};\n`,
    'src/hub/hub.ts': `export interface Hub {}\n`,
  });
  assert.match(output, /layer-config.*: src\/config\.ts → src\/hub\/hub\.ts/);
});

test('A circle fails the check, in tests too', (t) => {
  const output = checkLayers(t, {
    'src/hub/hub.ts': `export const hub = 1;\n`,
    'test/helpers/a.ts': `import { b } from './b.ts';\nexport const a = () => b;\n`,
    'test/helpers/b.ts': `import { a } from './a.ts';\nexport const b = () => a;\n`,
  });
  assert.match(output, /no-circles: test\/helpers\/a\.ts →/);
});

test('An import from a layer below passes the check', (t) => {
  const output = checkLayers(t, {
    'src/bus/bus.ts': `export const bus = 1;\n`,
    'src/hub/hub.ts': `import { bus } from '../bus/bus.ts';\nexport const hub = bus;\n`,
  });
  assert.match(output, /no dependency violations found/);
});

/** @returns what the check says about a project that holds only these files */
function checkLayers(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'layers-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json']) {
    cpSync(path.join(root, name), path.join(folder, name));
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const folders = new Set(Object.keys(files).map((name) => name.split('/')[0] ?? name));
  const args = ['--config', '.dependency-cruiser.cjs', ...folders];
  const command = path.join(root, 'node_modules/.bin/depcruise');
  return spawnSync(command, args, { cwd: folder, encoding: 'utf8' }).stdout;
}
