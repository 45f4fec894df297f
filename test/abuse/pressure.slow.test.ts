import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { startGraph } from '../e2e/graph-gateway.ts';
import { eventually } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { postJson } from '../helpers/http-exchange.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { connectSome, numbersOf, refusedUpgrade } from './arrange.ts';

/** Each subscriber has variables, and so results, of its own. */
const BIG = 'subscription ($who: Int) { said(who: $who) { n text } }';
const SMALL = 'subscription ($who: Int) { said(who: $who) { n } }';
const SCHEMA = `
  type Subscription { said(who: Int): Said @event(topic: "items") }
  type Said { n: Int text: String }
`;

const LIMIT_MB = 256;
const SOCKETS = 200;
const STALLED = SOCKETS / 5;
const TEXT = 'x'.repeat(50_000);

/**
 * As many bytes may wait for the sockets that stall as are twice of what the pod has. No pings: they would end these
 * sockets while a busy machine makes the test last.
 */
const SETTINGS = {
  PING_SECONDS: '0',
  NODE_OPTIONS: '--max-old-space-size=96',
  MEMORY_LIMIT_MB: String(LIMIT_MB),
  SOCKET_BUFFER_BYTES: String(Math.round((2 * LIMIT_MB * 2 ** 20) / STALLED)),
};

const SHED = 'sluice_closes_total{code="1013",reason="pressure"}';

/** Bytes of memory that the gateway holds. */
function residentMb({ child }: GatewayProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** @returns the status: 202 if the event was accepted */
const post = async ({ httpUrl }: GatewayProcess, n: number, text: string) =>
  (await postJson(`${httpUrl}/events/items`, { n, text })).status;

test('a pod that clients which do not read would fill refuses, pauses, sheds those, and comes back by itself', async (t) => {
  const gateway = await startGraph(t, { 'schema.graphql': SCHEMA }, SETTINGS);
  const sockets: RawSocket[] = [];
  while (sockets.length < SOCKETS) sockets.push(...(await connectSome(t, gateway, 20)));
  const stalled = sockets.slice(0, STALLED);
  const readers = sockets.slice(STALLED);
  for (const [who, socket] of sockets.entries()) {
    socket.subscribe('1', who < STALLED ? BIG : SMALL, { who });
  }
  await gateway.untilMetric('sluice_subscribers', SOCKETS);
  for (const { webSocket } of stalled) webSocket.pause();

  const accepted: number[] = [];
  let highestMb = 0;
  let refused = 0;
  // The kernel takes some megabytes for each before anything waits in the gateway.
  for (let n = 0; refused === 0 || (await gateway.metric(SHED)) === 0; n += 1) {
    assert.ok(n < 20_000, 'expected sockets to be shed');
    const status = await post(gateway, n, TEXT);
    assert.ok(status === 202 || status === 503, `${status}`);
    if (status === 202) accepted.push(n);
    else refused += 1;
    highestMb = Math.max(highestMb, residentMb(gateway));
    // So that all memory is that of sockets which stall.
    const last = accepted.at(-1);
    await eventually(() => {
      const behind = readers.filter((reader) => numbersOf(reader).at(-1) !== last);
      assert.equal(behind.length, 0, `${behind.length} readers have not got event ${last}`);
    });
  }
  await gateway.untilNotReady(/under pressure/);
  const { status, retryAfter } = await refusedUpgrade(gateway.graphqlUrl);
  assert.deepEqual([status, Number.isInteger(retryAfter)], [503, true]);

  // All by itself: no client reads, leaves or comes.
  await gateway.untilReady();
  await gateway.untilMetric('sluice_pressure_level', 0);
  t.diagnostic(`at most ${highestMb.toFixed(0)} MB resident`);
  assert.ok(highestMb < LIMIT_MB, `${highestMb} MB`);
  const closes = await gateway.metric('sluice_closes_total');
  assert.equal(closes, await gateway.metric(SHED));
  assert.ok(closes < STALLED, `${closes} of ${STALLED} were shed, though fewer were enough`);

  const last = 1_000_000;
  assert.equal(await post(gateway, last, ''), 202);
  for (const reader of readers) await reader.until(() => numbersOf(reader).at(-1) === last);
  for (const reader of readers) assert.deepEqual(numbersOf(reader), [...accepted, last]);
  await connectAndInit(t, gateway.graphqlUrl);

  // Once they read on, those that were shed find the connection gone, and the others miss nothing.
  for (const { webSocket } of stalled) webSocket.resume();
  const isGone = await Promise.all(
    stalled.map((socket) =>
      socket
        .until(() => numbersOf(socket).at(-1) === last)
        .then(
          () => false,
          () => true,
        ),
    ),
  );
  assert.equal(isGone.filter(Boolean).length, closes);
  for (const [index, socket] of stalled.entries()) {
    if (!isGone[index]) assert.deepEqual(numbersOf(socket), [...accepted, last]);
  }
  assert.equal(gateway.child.exitCode, null);
});
