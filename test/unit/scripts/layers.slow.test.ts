import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../../../..');

/** Each import that is forbidden, for one reason. */
const FAULTY = {
  'src/bus/bus.ts': `import { hub } from '../hub/hub.ts';\nexport const bus = hub;\n`,
  'src/config/config.ts': `import type { Hub } from '../hub/hub.ts';\nexport const config: Hub = {};\n`,
  'src/hub/hub.ts': `export const hub = 1;\nexport interface Hub {}\n`,
  'src/client/client.ts': `import type { Client } from 'graphql-ws';\nimport { hub } from '../hub/hub.ts';\nexport const client: Client = hub;\n`,
  'src/ingest/ingest.ts': `import { client } from '../client/client.ts';\nexport const ingest = client;\n`,
  'test/helpers/a.ts': `import { b } from './b.ts';\nexport const a = () => b;\n`,
  'test/helpers/b.ts': `import { a } from './a.ts';\nexport const b = () => a;\n`,
};

/** A check takes more than a second of a processor, so there is one for all faults. */
let output: string | undefined;

for (const [what, told] of [
  ['an import from a layer above', /layer-bus: src\/bus\/bus\.ts → src\/hub\/hub\.ts/],
  ['an import of a type from a layer above', /layer-config.*: src\/config\/config\.ts → src\/hub\/hub\.ts/],
  ['a circle, in tests too,', /no-circles: test\/helpers\/a\.ts →/],
  [
    'an import of the gateway into the client of browsers',
    /client-stands-alone: src\/client\/client\.ts → src\/hub\/hub\.ts/,
  ],
  [
    'an import of a type of a package into it',
    /client-stands-alone: src\/client\/client\.ts → .*node_modules\/graphql-ws/,
  ],
  [
    'an import of it into the gateway',
    /client-is-not-of-the-gateway: src\/ingest\/ingest\.ts → src\/client\/client\.ts/,
  ],
] as const) {
  test(`${what} fails the check`, () => assert.match((output ??= checkLayers(FAULTY)), told));
}

test('an import from a layer below passes the check', () => {
  const said = checkLayers({
    'src/bus/bus.ts': `export const bus = 1;\n`,
    'src/hub/hub.ts': `import { bus } from '../bus/bus.ts';\nexport const hub = bus;\n`,
  });
  assert.match(said, /no dependency violations found/);
});

/** @returns what the check says about a project that holds only these files */
function checkLayers(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'layers-'));
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
  const { stdout } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return stdout;
}
