import assert from 'node:assert/strict';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { testNeeding } from '../helpers/services.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { LISTENS, linesOf, startEdge, untilLines, WORKERS } from './edge.ts';

const test = testNeeding('redis');

const edge = sharedGateway(startEdge);

/** The value of a metric in each of the workers that have ever listened and are there still. */
async function inEachWorker(gateway: GatewayProcess, name: string): Promise<number[]> {
  const ports = linesOf(gateway, LISTENS).map((line) => Number(line['adminPort']));
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

test('sockets are spread evenly over the workers, and one admin port shows the metrics of all of them', async (t) => {
  const gateway = await edge();
  const sockets: RawSocket[] = [];
  // One by one: of those that come together, a worker that is busy gets fewer.
  while (sockets.length < 20) sockets.push(await connectAndInit(t, gateway.graphqlUrl));
  await gateway.untilMetric('sluice_connections', sockets.length);
  assert.deepEqual(await inEachWorker(gateway, 'sluice_connections'), [10, 10]);
  assert.equal(await gateway.metric('sluice_workers'), WORKERS);
});

test('the admin port shows the debug pages of each worker, to clients on this machine only', async (t) => {
  const gateway = await edge();
  const sockets = [1, 2, 3].map(() => connectAndInit(t, gateway.graphqlUrl));
  for (const socket of await Promise.all(sockets)) socket.subscribe('1', 'subscription { item { n } }');
  await gateway.untilMetric('sluice_subscribers', sockets.length);
  const inside = async (query: string): Promise<number> =>
    (await gateway.debug<{ groups: { subscribers: number } }>(`hub${query}`)).groups.subscribers;
  assert.equal(await inside(''), await inside('?worker=1'));
  const each = [await inside('?worker=1'), await inside('?worker=2')];
  assert.deepEqual(each.toSorted(), [1, 2]);

  const page = await fetch(`${gateway.adminUrl}/debug/`);
  assert.match(await page.text(), /src="page\.js"/);

  assert.equal((await fetch(`${gateway.adminUrl}/debug/hub?worker=3`)).status, 400);
  const forwarded = { headers: { 'x-forwarded-for': '10.0.0.1' } };
  assert.equal((await fetch(`${gateway.adminUrl}/debug/hub`, forwarded)).status, 404);
});

test('on SIGTERM all workers drain at once, and the primary exits with 0', async (t) => {
  const gateway = await startEdge(t, { DRAIN_SECONDS: '1' });
  const sockets = await Promise.all(Array.from({ length: 10 }, () => connectAndInit(t, gateway.graphqlUrl)));
  const [code, ...closings] = await Promise.all([gateway.stop(), ...sockets.map(({ closed }) => closed)]);
  assert.deepEqual(
    closings.map((closing) => closing.code),
    Array(10).fill(1012),
  );
  assert.equal(code, 0);
});

test('on SIGHUP one worker after the other is replaced: clients reconnect, and no count is lost', async (t) => {
  const gateway = await startEdge(t, { DRAIN_SECONDS: '1' });
  const clients = Array.from({ length: 20 }, () =>
    graphqlClient(t, gateway.graphqlUrl, { retryAttempts: 20 }),
  );
  const received = clients.map((client) => new Received(client, 'subscription { item { n } }'));
  await gateway.untilMetric('sluice_subscribers', 20);
  const before = (await untilLines(gateway, LISTENS, WORKERS)).map(({ pid }) => pid);

  gateway.child.kill('SIGHUP');
  await gateway.untilLog(/all workers have been replaced/);
  const after = (await untilLines(gateway, LISTENS, 2 * WORKERS)).map(({ pid }) => pid).slice(WORKERS);
  assert.equal(after.length, WORKERS);
  assert.ok(after.every((pid) => !before.includes(pid)));
  assert.deepEqual(
    (await untilLines(gateway, 'a worker has ended', WORKERS)).map(({ pid, end }) => ({ pid, end })),
    before.map((pid) => ({ pid, end: 'exit code 0' })),
  );
  await gateway.untilMetric('sluice_subscribers', 20);
  // The second worker that is replaced may have had clients that the first one had before.
  await gateway.untilAtLeast('sluice_closes_total', 20);
  assert.equal(await gateway.metric('sluice_worker_restarts_total'), 0);
  assert.ok(received.every(({ end }) => end === undefined));
});
