import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { runCli, spawnCli, startGateway, type GatewayProcess, type LogLine } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import type { Scope } from '../helpers/scope.ts';
import { needs, redisUrl } from '../helpers/services.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';

const WORKERS = 2;

/** Delivers events that other pods consume: its workers have no consumer group to wait for. */
async function startEdge(scope: Scope, settings: Record<string, string> = {}): Promise<GatewayProcess> {
  const folder = await graphFolder(scope, { 'schema.graphql': itemSchema('items') });
  const gateway = await startGateway(scope, {
    GRAPH: folder,
    REDIS_URL: redisUrl(),
    WORKERS: String(WORKERS),
    ...settings,
  });
  await gateway.untilReady();
  return gateway;
}

const edge = sharedGateway(startEdge);

const linesOf = (gateway: GatewayProcess, msg: string): LogLine[] =>
  gateway.lines.filter((line) => line.msg === msg);

/** The value of a metric in each of the workers that have ever listened and are there still. */
async function inEachWorker(gateway: GatewayProcess, name: string): Promise<number[]> {
  const ports = linesOf(gateway, 'a worker listens').map((line) => Number(line['adminPort']));
  const texts = await Promise.all(
    ports.map((port) =>
      fetch(`http://127.0.0.1:${port}/metrics`).then(
        (response) => response.text(),
        () => undefined,
      ),
    ),
  );
  return texts
    .filter((text) => text !== undefined)
    .map((text) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1]));
}

test(
  'sockets are spread evenly over the workers, and one admin port shows the metrics of all of them',
  needs('redis'),
  async (t) => {
    const gateway = await edge();
    const sockets: RawSocket[] = [];
    // One by one: of those that come together, a worker that is busy gets fewer.
    while (sockets.length < 20) sockets.push(await connectAndInit(t, gateway.graphqlUrl));
    await gateway.untilMetric('sluice_connections', sockets.length);
    assert.deepEqual(await inEachWorker(gateway, 'sluice_connections'), [10, 10]);
    assert.equal(await gateway.metric('sluice_workers'), WORKERS);
  },
);

test(
  'the admin port shows the debug pages of each worker, to clients on this machine only',
  needs('redis'),
  async (t) => {
    const gateway = await edge();
    const sockets = [1, 2, 3].map(() => connectAndInit(t, gateway.graphqlUrl));
    for (const socket of await Promise.all(sockets)) socket.subscribe('1', 'subscription { item { n } }');
    await gateway.untilMetric('sluice_subscribers', sockets.length);
    const inside = async (query: string): Promise<number> => {
      const response = await fetch(`${gateway.adminUrl}/debug/hub${query}`);
      const { groups } = (await response.json()) as { groups: { subscribers: number } };
      return groups.subscribers;
    };
    assert.equal(await inside(''), await inside('?worker=1'));
    const each = [await inside('?worker=1'), await inside('?worker=2')];
    assert.deepEqual(each.toSorted(), [1, 2]);

    const page = await fetch(`${gateway.adminUrl}/debug/`);
    assert.match(await page.text(), /src="page\.js"/);
    const profile = await fetch(`${gateway.adminUrl}/debug/cpu-profile?seconds=1&worker=2`);
    assert.ok('nodes' in ((await profile.json()) as object));

    const status = async (
      path: string,
      headers: Record<string, string> = {},
    ): Promise<number | undefined> => {
      const asked = request(`${gateway.adminUrl}${path}`, { headers }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    assert.equal(await status('/debug/hub?worker=3'), 400);
    assert.equal(await status('/debug/hub', { host: 'example.com' }), 404);
    assert.equal(await status('/debug/hub', { 'x-forwarded-for': '10.0.0.1' }), 404);
    assert.equal(await status('/debug/hub', { 'sec-fetch-site': 'cross-site' }), 403);
  },
);

test('a recording in a worker ends when the client leaves', needs('redis'), async () => {
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
});

test(
  'a client that leaves in the middle of a heap snapshot stops neither the worker nor later recordings',
  needs('redis'),
  async () => {
    const gateway = await edge();
    const snapshot = await fetch(`${gateway.adminUrl}/debug/heap-snapshot`);
    assert.equal(snapshot.status, 200);
    await snapshot.body?.cancel();
    await eventually(async () => {
      assert.equal((await fetch(`${gateway.adminUrl}/debug/cpu-profile?seconds=1`)).status, 200);
    });
    assert.equal(await gateway.metric('sluice_worker_restarts_total'), 0);
  },
);

test('workers do not outlive their primary process', needs('redis'), async (t) => {
  const gateway = await startEdge(t);
  await eventually(() => assert.equal(linesOf(gateway, 'a worker listens').length, WORKERS));
  const ports = linesOf(gateway, 'a worker listens').map((line) => Number(line['adminPort']));
  assert.equal(await gateway.stop('SIGKILL'), null);
  for (const port of ports) {
    await eventually(() => assert.rejects(fetch(`http://127.0.0.1:${port}/livez`)));
  }
});

test('on SIGTERM all workers drain at once, and the primary exits with 0', needs('redis'), async (t) => {
  const gateway = await startEdge(t, { DRAIN_DELAY_SECONDS: '5', DRAIN_SECONDS: '1' });
  const sockets = await Promise.all(Array.from({ length: 10 }, () => connectAndInit(t, gateway.graphqlUrl)));
  const ended = gateway.stop('SIGTERM');
  await gateway.untilNotReady(/draining/);
  assert.equal((await fetch(`${gateway.adminUrl}/livez`)).status, 200);
  const closings = await Promise.all(sockets.map((socket) => socket.closed));
  assert.deepEqual(
    closings.map(({ code }) => code),
    Array(10).fill(1012),
  );
  assert.equal(await ended, 0);
});

test(
  'a signal that a terminal sends to every process ends the workers and the primary in order',
  needs('redis'),
  async (t) => {
    const gateway = await startEdge(t, { DRAIN_DELAY_SECONDS: '3600' });
    await eventually(() => assert.equal(linesOf(gateway, 'a worker listens').length, WORKERS));
    const socket = await connectAndInit(t, gateway.graphqlUrl);
    for (const line of linesOf(gateway, 'a worker listens')) process.kill(Number(line['pid']), 'SIGINT');
    const code = await gateway.stop('SIGINT');
    assert.equal((await socket.closed).code, 1001);
    assert.equal(code, 0);
  },
);

test('a second signal ends all processes at once', needs('redis'), async (t) => {
  const gateway = await startEdge(t, { DRAIN_DELAY_SECONDS: '3600' });
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  gateway.child.kill('SIGTERM');
  await gateway.untilNotReady(/draining/);
  assert.equal(await gateway.insist(), 1);
  assert.equal((await socket.closed).code, 1006);
});

test(
  'on SIGHUP one worker after the other is replaced: clients reconnect, and no count is lost',
  needs('redis'),
  async (t) => {
    const gateway = await startEdge(t, { DRAIN_SECONDS: '1' });
    const clients = Array.from({ length: 20 }, () =>
      graphqlClient(t, gateway.graphqlUrl, { retryAttempts: 20 }),
    );
    const received = clients.map((client) => new Received(client, 'subscription { item { n } }'));
    await gateway.untilMetric('sluice_subscribers', 20);
    await eventually(() => assert.equal(linesOf(gateway, 'a worker listens').length, WORKERS));
    const before = linesOf(gateway, 'a worker listens').map(({ pid }) => pid);

    gateway.child.kill('SIGHUP');
    await gateway.untilLog(/all workers have been replaced/);
    const after = linesOf(gateway, 'a worker listens')
      .map(({ pid }) => pid)
      .slice(WORKERS);
    assert.equal(after.length, WORKERS);
    assert.ok(after.every((pid) => !before.includes(pid)));
    assert.deepEqual(
      linesOf(gateway, 'a worker has ended').map(({ pid, end }) => ({ pid, end })),
      before.map((pid) => ({ pid, end: 'exit code 0' })),
    );
    await gateway.untilMetric('sluice_subscribers', 20);
    // The second worker that is replaced may have had clients that the first one had before.
    assert.ok((await gateway.metric('sluice_closes_total')) >= 20);
    assert.equal(await gateway.metric('sluice_worker_restarts_total'), 0);
    assert.ok(received.every(({ end }) => end === undefined));
  },
);

test('a SIGHUP during a rolling restart is followed by another one', needs('redis'), async (t) => {
  const gateway = await startEdge(t);
  await eventually(() => assert.equal(linesOf(gateway, 'a worker listens').length, WORKERS));
  gateway.child.kill('SIGHUP');
  await eventually(() => assert.ok(linesOf(gateway, 'a worker listens').length > WORKERS));
  gateway.child.kill('SIGHUP');
  await eventually(() => assert.equal(linesOf(gateway, 'all workers have been replaced').length, 2));
  assert.equal(linesOf(gateway, 'a worker listens').length, 3 * WORKERS);
});

test(
  'a new worker that dies while the old one is still being drained is replaced at once',
  needs('redis'),
  async (t) => {
    // With an endless drain one socket is closed each half second.
    const gateway = await startEdge(t, { DRAIN_SECONDS: '3600' });
    await eventually(() => assert.equal(linesOf(gateway, 'a worker listens').length, WORKERS));
    await Promise.all(Array.from({ length: 160 }, () => connectAndInit(t, gateway.graphqlUrl)));
    gateway.child.kill('SIGHUP');
    await gateway.untilLog(/draining/);
    process.kill(Number(linesOf(gateway, 'a worker listens')[WORKERS]?.['pid']), 'SIGKILL');
    await eventually(() => assert.equal(linesOf(gateway, 'a worker listens').length, WORKERS + 2));
    assert.deepEqual(
      linesOf(gateway, 'a worker has ended').map(({ end }) => end),
      ['SIGKILL'],
    );
    gateway.child.kill('SIGTERM');
    await gateway.untilNotReady(/draining/);
    assert.equal(await gateway.insist(), 1);
  },
);

test(
  'a new worker that can not start ends a rolling restart, and the old ones go on',
  needs('redis'),
  async (t) => {
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
  },
);

test('a port that is in use stops the start, with one message', async (t) => {
  const taken = createServer().listen(0);
  t.after(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { code, stderr } = await runCli(t, ['serve'], {
    PORT: String(port),
    ADMIN_PORT: '0',
    REDIS_URL: 'redis://127.0.0.1:1',
    WORKERS: '2',
  });
  assert.equal(code, 1);
  assert.equal(stderr.match(/PORT: expected a free port, got/g)?.length, 1, stderr);
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
