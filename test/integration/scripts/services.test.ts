import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { spawnFor } from '../../helpers/child-process.ts';
import { freePort } from '../../helpers/free-port.ts';
import { needs } from '../../helpers/services.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

test('scripts/services prints the services that the environment names, and starts none', async (t) => {
  const clone = cloneScripts(t);
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const env = { KAFKA_BROKERS: `127.0.0.1:${port}`, REDIS_URL: `redis://127.0.0.1:${port}/2` };
  // Its connections are accepted by this process, which therefore can't wait for it without turning its loop.
  const child = spawnFor(t, clone.script, ['up', '--only', 'kafka,redis'], {
    env: { ...process.env, ...env },
  });
  const [[code], stdout] = await Promise.all([once(child, 'close'), text(child.stdout)]);

  assert.equal(code, 0);
  assert.equal(stdout, `KAFKA_BROKERS=${env.KAFKA_BROKERS}\nREDIS_URL=${env.REDIS_URL}\n`);
  assert.ok(!readdirSync(clone.folder).includes('.services'));
});

test('A server that the environment names and that does not answer is an error', async (t) => {
  const clone = cloneScripts(t);
  const port = await freePort();
  const { status, stdout, stderr } = clone.run(['up', '--only', 'redis'], {
    REDIS_URL: `redis://127.0.0.1:${port}`,
  });
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /Redis can't be had: REDIS_URL is set, but no server accepts connections there/);
});

test(
  'up twice starts services once, up restarts a killed server, down leaves nothing',
  needs('redis-server'),
  async (t) => {
    const clone = cloneScripts(t);
    t.after(() => clone.run(['down']));
    const up = ['up', '--only', 'redis'];

    const first = clone.run(up);
    assert.match(first.stdout, /^REDIS_URL=redis:\/\/127\.0\.0\.1:\d+\n$/);
    const { pid } = clone.redis();
    assert.equal(clone.run(up).stdout, first.stdout);
    assert.equal(clone.redis().pid, pid);

    process.kill(pid, 'SIGKILL');
    assert.match(clone.run(up).stdout, /^REDIS_URL=/);
    const { pid: second, port } = clone.redis();
    assert.notEqual(second, pid);

    assert.equal(clone.run(['down']).status, 0);
    await assert.rejects(once(connect({ port, host: '127.0.0.1' }), 'connect'), { code: 'ECONNREFUSED' });
    assert.deepEqual(readdirSync(clone.folder).toSorted(), ['bin', 'package.json', 'scripts']);
  },
);

test(
  'down does not kill another process that has got the pid of a server',
  needs('redis-server'),
  async (t) => {
    const clone = cloneScripts(t);
    const stranger = spawnFor(t, process.execPath, ['-e', 'process.stdin.resume()']);
    await once(stranger, 'spawn');
    const { pid } = stranger;
    const redis = { how: 'process', pid, marks: ['redis-server', '1'], port: 1, controllerPort: 2 };
    mkdirSync(path.join(clone.folder, '.services'));
    writeFileSync(path.join(clone.folder, '.services/state.json'), JSON.stringify({ redis }));

    assert.equal(clone.run(['down']).status, 0);
    assert.equal(stranger.signalCode, null);
    assert.ok(process.kill(pid ?? 0, 0));
  },
);

interface Clone {
  readonly folder: string;
  readonly script: string;
  run(
    args: string[],
    env?: NodeJS.ProcessEnv,
  ): ReturnType<typeof spawnSync> & { stdout: string; stderr: string };
  /** The state file's entry for the server that the script started. */
  redis(): { pid: number; port: number };
}

/** The scripts as in a clone of their own, on a machine without a Docker engine. */
function cloneScripts(t: TestContext): Clone {
  const folder = mkdtempSync(path.join(tmpdir(), 'services-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(path.join(root, 'scripts'), path.join(folder, 'scripts'), { recursive: true });
  cpSync(path.join(root, 'package.json'), path.join(folder, 'package.json'));
  mkdirSync(path.join(folder, 'bin'));
  writeFileSync(path.join(folder, 'bin/docker'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const script = path.join(folder, 'scripts/services');
  const base = {
    ...process.env,
    PATH: `${folder}/bin:${process.env['PATH']}`,
    KAFKA_BROKERS: '',
    REDIS_URL: '',
  };
  return {
    folder,
    script,
    run: (args, env) => spawnSync(script, args, { env: { ...base, ...env }, encoding: 'utf8' }),
    redis: () => JSON.parse(readFileSync(path.join(folder, '.services/state.json'), 'utf8')).redis,
  };
}
