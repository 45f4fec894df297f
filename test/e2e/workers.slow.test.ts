import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { spawnCli } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { testNeeding } from '../helpers/services.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { LISTENS, startEdge, untilLines, WORKERS } from './edge.ts';

const it = testNeeding('redis');

const edge = sharedGateway(startEdge);

it('a recording in a worker ends when the client leaves; of the other one, too, one may be had', async () => {
  const gateway = await edge();
  const leaving = new AbortController();
  const profile = (seconds: number, signal: AbortSignal | null = null): Promise<Response> =>
    fetch(`${gateway.adminUrl}/debug/cpu-profile?seconds=${seconds}`, { signal });
  // Only one of the two requests is admitted; the refusal of the other one says that the recording is under way.
  const two = [profile(60, leaving.signal), profile(60, leaving.signal)];
  assert.equal((await Promise.any(two)).status, 409);
  leaving.abort();
  await Promise.allSettled(two);
  await eventually(async () => assert.equal((await profile(1)).status, 200));
  const other = await fetch(`${gateway.adminUrl}/debug/cpu-profile?seconds=1&worker=2`);
  assert.ok('nodes' in ((await other.json()) as object));
});

it('workers do not outlive their primary process', async (t) => {
  const gateway = await startEdge(t);
  const ports = (await untilLines(gateway, LISTENS, WORKERS)).map((line) => Number(line['adminPort']));
  assert.equal(await gateway.stop('SIGKILL'), null);
  for (const port of ports) {
    await eventually(() => assert.rejects(fetch(`http://127.0.0.1:${port}/livez`)));
  }
});

it('a signal that a terminal sends to every process ends the workers and the primary in order', async (t) => {
  const gateway = await startEdge(t, { DRAIN_DELAY_SECONDS: '3600' });
  const listening = await untilLines(gateway, LISTENS, WORKERS);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  for (const line of listening) process.kill(Number(line['pid']), 'SIGINT');
  const code = await gateway.stop('SIGINT');
  assert.equal((await socket.closed).code, 1001);
  assert.equal(code, 0);
});

it('a second signal ends all processes at once', async (t) => {
  const gateway = await startEdge(t, { DRAIN_DELAY_SECONDS: '3600' });
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  gateway.child.kill('SIGTERM');
  await gateway.untilNotReady(/draining/);
  assert.equal((await fetch(`${gateway.adminUrl}/livez`)).status, 200);
  assert.equal(await gateway.insist(), 1);
  assert.equal((await socket.closed).code, 1006);
});

it('a SIGHUP during a rolling restart is followed by another one', async (t) => {
  const gateway = await startEdge(t);
  await untilLines(gateway, LISTENS, WORKERS);
  gateway.child.kill('SIGHUP');
  await untilLines(gateway, LISTENS, WORKERS + 1);
  gateway.child.kill('SIGHUP');
  await untilLines(gateway, 'all workers have been replaced', 2);
  await untilLines(gateway, LISTENS, 3 * WORKERS);
});

it('a new worker that dies while the old one is still being drained is replaced at once', async (t) => {
  // With an endless drain one socket is closed each half second.
  const gateway = await startEdge(t, { DRAIN_SECONDS: '3600' });
  await untilLines(gateway, LISTENS, WORKERS);
  await Promise.all(Array.from({ length: 160 }, () => connectAndInit(t, gateway.graphqlUrl)));
  gateway.child.kill('SIGHUP');
  await gateway.untilLog(/draining/);
  const listening = await untilLines(gateway, LISTENS, WORKERS + 1);
  process.kill(Number(listening[WORKERS]?.['pid']), 'SIGKILL');
  await untilLines(gateway, LISTENS, WORKERS + 2);
  const ended = await untilLines(gateway, 'a worker has ended', 1);
  assert.deepEqual(
    ended.map(({ end }) => end),
    ['SIGKILL'],
  );
  gateway.child.kill('SIGTERM');
  await gateway.untilNotReady(/draining/);
  assert.equal(await gateway.insist(), 1);
});

it('a new worker that can not start ends a rolling restart, and the old ones go on', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const gateway = await startEdge(t, { GRAPH: folder });
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  await writeFile(`${folder}/schema.graphql`, 'type Subscription {');
  gateway.child.kill('SIGHUP');
  await gateway.untilLog(/a new worker did not become ready/);
  await socket.roundTrip();
  await gateway.untilReady();
  assert.equal(await gateway.metric('sluice_workers'), WORKERS);
  assert.equal(await gateway.stop(), 0);
});

test('a signal that comes while the workers start ends all processes, and the primary exits with 0', async (t) => {
  const child = spawnCli(t, ['serve'], {
    PORT: '0',
    ADMIN_PORT: '0',
    REDIS_URL: 'redis://127.0.0.1:1',
    WORKERS: '2',
    DRAIN_DELAY_SECONDS: '3600',
    LOG_LEVEL: 'info',
  });
  // The first line of the log comes with the first worker that listens; the second has yet to be started then.
  await once(child.stdout, 'data');
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  assert.deepEqual(await exit, [0, null]);
});
