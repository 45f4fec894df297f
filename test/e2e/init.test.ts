import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { spawnFor } from '../helpers/child-process.ts';
import { GATEWAY_DEFAULTS, runCli, untilListening } from '../helpers/gateway.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

const read = async <T>(file: string): Promise<T> => parse(await readFile(file, 'utf8'), { merge: true }) as T;

interface Compose {
  readonly services: Readonly<Record<string, object>> & {
    gateway: { environment: Record<string, string>; env_file?: object };
  };
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly dependencies: object;
}

test('sluice init writes a project whose graph the check takes, and prints its files and what comes next', async (t) => {
  const parent = await temporaryFolder(t);
  const folder = path.join(parent, 'My graph!');
  const { code, stdout } = await runCli(t, ['init', folder]);
  assert.equal(code, 0);
  const [files, next] = stdout.split('\n\n');
  assert.deepEqual(
    files?.split('\n').map((file) => path.relative(folder, file)),
    [
      'README.md',
      'compose.yaml',
      '.dockerignore',
      '.gitignore',
      'graph/graph.ts',
      'graph/schema.graphql',
      'package.json',
      'test/graph.test.js',
      'tsconfig.json',
    ],
  );
  assert.equal(next, `Next: cd '${folder}' && npm install && npm run types && npm test && npx sluice dev\n`);
  for (const ignored of ['.dockerignore', '.gitignore'])
    assert.match(await readFile(path.join(folder, ignored), 'utf8'), /^\.env$/m);
  const { name, dependencies } = await read<Package>(path.join(folder, 'package.json'));
  const { version } = await read<Package>(path.join(ROOT, 'package.json'));
  assert.deepEqual({ name, dependencies }, { name: 'my-graph', dependencies: { sluice: `^${version}` } });
  const checked = await runCli(t, ['check', path.join(folder, 'graph')]);
  assert.equal(checked.stdout, '0 errors, 0 warnings\n');
});

test('a project in a folder with the name of the package is installable, since it has another name', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'sluice');
  await runCli(t, ['init', folder]);
  const { name } = await read<Package>(path.join(folder, 'package.json'));
  assert.equal(name, 'graph');
});

test('a project holds the tarball of Sluice that is named, and one that is not there is refused', async (t) => {
  const parent = await temporaryFolder(t);
  const [folder, tarball] = [path.join(parent, 'shop'), path.join(parent, 'sluice-1.tgz')];
  const refused = await runCli(t, ['init', folder, '--package', tarball]);
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr,
    /^sluice: expected a tarball of Sluice: ENOENT.*; --package <file> names one$/m,
  );
  assert.deepEqual(await readdir(parent), []);
  await writeFile(tarball, 'packed');
  const { stdout } = await runCli(t, ['init', folder, '--package', tarball]);
  assert.match(stdout, /\/shop\/sluice-1\.tgz\n/);
  assert.equal(await readFile(path.join(folder, 'sluice-1.tgz'), 'utf8'), 'packed');
  const { dependencies } = await read<Package>(path.join(folder, 'package.json'));
  assert.deepEqual(dependencies, { sluice: 'file:sluice-1.tgz' });
});

test('sluice init writes a project to a folder that holds nothing but the tarball', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(path.join(cwd, 'sluice-1.tgz'), 'packed');
  const cli = path.join(ROOT, 'dist/src/cli.js');
  const init = async (...args: readonly string[]): Promise<string> =>
    text(spawnFor(t, process.execPath, [cli, 'init', ...args], { cwd }).stdout);
  assert.match(await init('.', '--package', 'sluice-1.tgz'), /^README\.md\n[^]*\nNext: npm install && /);
  assert.equal(await readFile(path.join(cwd, 'sluice-1.tgz'), 'utf8'), 'packed');
  const { dependencies } = await read<Package>(path.join(cwd, 'package.json'));
  assert.deepEqual(dependencies, { sluice: 'file:sluice-1.tgz' });
  assert.equal(await init('.', '--package', 'sluice-1.tgz'), '', 'it holds a project now');
  const other = path.join(cwd, 'other');
  await mkdir(other);
  await writeFile(path.join(other, 'sluice-1.tgz'), 'not that one');
  assert.equal(await init('other', '--package', 'sluice-1.tgz'), '');
});

test('sluice init refuses a folder that holds anything, and a file, and changes nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'package.json');
  await writeFile(file, '{}');
  const held = await runCli(t, ['init', folder]);
  assert.equal(held.code, 1);
  assert.equal(
    held.stderr,
    `sluice: expected a new or an empty folder, got ${folder} with package.json; name another one: sluice init <folder>\n`,
  );
  const isFile = await runCli(t, ['init', file]);
  assert.equal(isFile.code, 1);
  assert.match(isFile.stderr, /^sluice: expected a new or an empty folder: ENOTDIR/);
  assert.equal(await readFile(file, 'utf8'), '{}');
});

test("the project's compose.yaml has the Kafka and the Redis of the repository's, and settings that a gateway takes, those of .env too", async () => {
  const [own, template] = [
    await read<Compose>(path.join(ROOT, 'compose.yaml')),
    await read<Compose>(path.join(ROOT, 'src/cli/template/compose.yaml')),
  ];
  for (const name of ['kafka', 'redis']) assert.deepEqual(template.services[name], own.services[name]);
  const { environment, env_file: envFile } = template.services.gateway;
  assert.deepEqual(envFile, [{ path: '.env', required: false }]);
  for (const setting of Object.keys(environment)) assert.ok(setting in loadConfig(environment), setting);
});

test('npm start of a project hands SIGTERM on to the gateway, which drains before npm ends', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'shop');
  await runCli(t, ['init', folder]);
  const commands = path.join(folder, 'node_modules/.bin');
  await mkdir(commands, { recursive: true });
  const command = `#!/bin/sh\nexec node '${path.join(ROOT, 'dist/src/cli.js')}' "$@"\n`;
  await writeFile(path.join(commands, 'sluice'), command, { mode: 0o755 });
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...GATEWAY_DEFAULTS };
  const npm = spawnFor(t, 'npm', ['start', '--silent'], { cwd: folder, env });
  const gateway = await untilListening(npm);
  const { pid } = await gateway.untilLine(({ msg }) => msg === 'listening');
  // Where npm hands nothing on, it leaves the gateway behind.
  t.after(() => isRunning(Number(pid)) && process.kill(Number(pid), 'SIGKILL'));
  npm.kill('SIGTERM');
  const [code] = (await once(npm, 'exit')) as [number | null];
  assert.equal(code, 0);
  await gateway.untilLog(/"drained"/);
  assert.equal(isRunning(Number(pid)), false);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
