import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { range, upTo } from '../helpers/numbers.ts';
import { connect, connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { connectSome, refusedUpgrade, startItems } from './arrange.ts';

const ITEM = 'subscription ($id: [ID!]) { item(id: $id) { n } }';

/** The viewer is what the client says. */
const AUTHENTICATE = `
  import { defineGraph } from 'sluice';
  export default defineGraph({ authenticate: ({ id = null }) => ({ id }) });
`;

async function assertRefused(url: string, expected: RegExp, headers = {}): Promise<void> {
  const { status, retryAfter, body } = await refusedUpgrade(url, headers);
  assert.equal(status, 503);
  assert.ok(retryAfter >= 1 && retryAfter <= 10, `Retry-After: ${retryAfter}`);
  assert.match((JSON.parse(body) as { error: string }).error, expected);
}

/** Subscribes, and waits until that is refused. @returns the code */
async function refusedCode(
  socket: RawSocket,
  id: string,
  variables: Record<string, unknown>,
): Promise<unknown> {
  socket.subscribe(id, ITEM, variables);
  const answer = await socket.until((message) => message.id === id);
  assert.equal(answer.type, 'error');
  return (answer.payload as { extensions?: { code?: string } }[])[0]?.extensions?.code;
}

const refusals = (gateway: GatewayProcess, reason: string): Promise<number> =>
  gateway.metric(`sluice_refusals_total{reason="${reason}"}`);

test('of connections that say nothing a pod takes as many as it may, and lets in more when they are acknowledged', async (t) => {
  const gateway = await startItems(t, { MAX_HANDSHAKES: '2', INIT_TIMEOUT_MS: '600000' });
  const silent = await connect(t, gateway.graphqlUrl);
  const closing = await connect(t, gateway.graphqlUrl);
  await assertRefused(gateway.graphqlUrl, /not yet acknowledged/);
  silent.send({ type: 'connection_init' });
  await silent.until(({ type }) => type === 'connection_ack');
  await connect(t, gateway.graphqlUrl);
  await assertRefused(gateway.graphqlUrl, /not yet acknowledged/);
  closing.webSocket.close();
  await gateway.untilMetric('sluice_connections', 2);
  await connect(t, gateway.graphqlUrl);
  assert.equal(await refusals(gateway, 'handshakes'), 2);
});

test('a pod takes so many new connections in a second', async (t) => {
  const gateway = await startItems(t, { CONNECTIONS_PER_SECOND: '1' });
  await connect(t, gateway.graphqlUrl);
  // Of those that come at once; a slow test would not make the second one within a second of the first.
  const upgrades = upTo(10).map(() =>
    assertRefused(gateway.graphqlUrl, /at most 1 new connections a second/),
  );
  await Promise.any(upgrades);
  assert.ok((await refusals(gateway, 'connection_rate')) >= 1);
});

const from = (forwarded: string) => ({ headers: { 'x-forwarded-for': forwarded } });

test('connections of one address are counted behind a trusted proxy, and no client changes that by its own X-Forwarded-For', async (t) => {
  const gateway = await startItems(t, { TRUSTED_PROXIES: '127.0.0.1', MAX_CONNECTIONS_PER_ADDRESS: '1' });
  await connect(t, gateway.graphqlUrl, from('198.51.100.1'));
  await connect(t, gateway.graphqlUrl, from('198.51.100.1, 198.51.100.2'));
  const { headers } = from('203.0.113.9, 198.51.100.1');
  await assertRefused(gateway.graphqlUrl, /connections of an address/, headers);
  await connect(t, gateway.graphqlUrl);
  await connect(t, gateway.graphqlUrl);
  const { addresses } = await gateway.debug<{ addresses: { count: number } }>('hub');
  assert.equal(addresses.count, 2);
});

test('without TRUSTED_PROXIES an address may be everyone’s, and has no cap', async (t) => {
  const gateway = await startItems(t, {
    MAX_CONNECTIONS_PER_ADDRESS: '1',
    CONNECTIONS_PER_SECOND_PER_ADDRESS: '1',
  });
  for (let opened = 0; opened < 5; opened += 1) await connect(t, gateway.graphqlUrl);
});

/** Connects as this viewer. */
async function connectAs(t: TestContext, gateway: GatewayProcess, id: unknown): Promise<RawSocket> {
  const socket = await connect(t, gateway.graphqlUrl);
  socket.send({ type: 'connection_init', payload: { id } });
  return socket;
}

const isAcknowledged = ({ type }: { type: string }): boolean => type === 'connection_ack';

test('a viewer has as many connections and operations as it may, on all connections together', async (t) => {
  const settings = { VIEWER_ID: 'id', MAX_CONNECTIONS_PER_VIEWER: '2', MAX_OPERATIONS_PER_VIEWER: '3' };
  const gateway = await startItems(t, settings, { 'graph.js': AUTHENTICATE });
  const [first, second] = [await connectAs(t, gateway, 'ann'), await connectAs(t, gateway, 'ann')];
  await Promise.all([first.until(isAcknowledged), second.until(isAcknowledged)]);
  const third = await connectAs(t, gateway, 'ann');
  assert.deepEqual(await third.closed, {
    code: 1013,
    reason: 'Too many connections of this viewer: close one of them',
  });
  await (await connectAs(t, gateway, 'bob')).until(isAcknowledged);
  for (let anonymous = 0; anonymous < 3; anonymous += 1) {
    await (await connectAs(t, gateway, undefined)).until(isAcknowledged);
  }
  first.subscribe('1', ITEM);
  first.subscribe('2', ITEM);
  await first.roundTrip();
  second.subscribe('3', ITEM);
  assert.equal(await refusedCode(second, '4', {}), 'TOO_MANY_OPERATIONS');
  first.webSocket.close();
  await gateway.untilMetric('sluice_connections', 5);
  second.subscribe('5', ITEM);
  second.subscribe('6', ITEM);
  await second.roundTrip();
  assert.equal(await refusedCode(second, '7', {}), 'TOO_MANY_OPERATIONS');
  await (await connectAs(t, gateway, 'ann')).until(isAcknowledged);
});

const keys = (first: number, count: number): string[] => range(first, first + count).map(String);

test('a pod gives up channels that linger for new ones, and refuses what needs more than it may have', async (t) => {
  const gateway = await startItems(t, { MAX_CHANNELS_PER_POD: '10', CHANNEL_LINGER_MS: '600000' });
  const before = await connectAndInit(t, gateway.graphqlUrl);
  before.subscribe('1', ITEM, { id: keys(0, 10) });
  await gateway.untilMetric('sluice_channels', 10);
  const other = await connectAndInit(t, gateway.graphqlUrl);
  assert.equal(await refusedCode(other, '1', { id: keys(9, 2) }), 'POD_FULL');
  other.subscribe('2', ITEM, { id: keys(0, 10).toReversed() });
  await gateway.untilMetric('sluice_subscribers', 2);
  before.webSocket.close();
  await gateway.untilMetric('sluice_subscribers', 1);
  other.send({ type: 'complete', id: '2' });
  other.subscribe('3', ITEM, { id: keys(100, 10) });
  await other.roundTrip();
  assert.equal(await gateway.metric('sluice_channels'), 10);
  assert.equal(await refusals(gateway, 'channels'), 1);
  await gateway.postEvent('items', { id: '109', n: 7 });
  const next = await other.until(({ type }) => type === 'next');
  assert.deepEqual(next, { id: '3', type: 'next', payload: { data: { item: { n: 7 } } } });
});

const long = (letter: string) => ({ id: [letter.repeat(40_000)] });

test('variables of subscriptions take as much memory as they may, of a connection and of the pod', async (t) => {
  const gateway = await startItems(t, {
    MAX_VARIABLES_BYTES_PER_CONNECTION: '50000',
    MAX_VARIABLES_BYTES_PER_POD: '70000',
  });
  const [first, second, third] = (await connectSome(t, gateway, 3)) as [RawSocket, RawSocket, RawSocket];
  first.subscribe('1', ITEM, long('a'));
  await gateway.untilMetric('sluice_groups', 1);
  assert.equal(await refusedCode(first, '2', long('b')), 'TOO_MANY_VARIABLES');
  second.subscribe('1', ITEM, long('a'));
  assert.equal(await refusedCode(third, '1', long('b')), 'POD_FULL');
  first.webSocket.close();
  second.webSocket.close();
  await gateway.untilMetric('sluice_groups', 0);
  third.subscribe('2', ITEM, long('b'));
  await gateway.untilMetric('sluice_groups', 1);
});

test('an id of an operation is no place to store text', async (t) => {
  const gateway = await startItems(t);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  assert.equal(await refusedCode(socket, 'x'.repeat(129), {}), 'ID_TOO_LONG');
  socket.subscribe('x'.repeat(128), ITEM);
  await gateway.untilMetric('sluice_groups', 1);
});
