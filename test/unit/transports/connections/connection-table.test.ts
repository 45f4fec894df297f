import assert from 'node:assert/strict';
import test from 'node:test';
import type { ClientConnection } from '../../../../src/transports/connections/client-connection.ts';
import { connectionTable } from '../../../../src/transports/connections/connection-table.ts';
import { ViewerTally } from '../../../../src/transports/connections/viewers.ts';

const NOW = 1_700_000_100_000;

interface Faked {
  readonly id: string;
  readonly transport?: string;
  readonly viewerTally?: ViewerTally;
  readonly waitingBytes?: number;
  readonly slowSince?: number;
  readonly open?: boolean;
}

function connection({ id, waitingBytes = 0, slowSince, ...rest }: Faked): ClientConnection {
  return {
    id,
    transport: 'graphql-transport-ws',
    open: true,
    openedAt: NOW / 1_000 - 60,
    operations: 2,
    channels: 3,
    viewerTally: undefined,
    sendQueue: { waitingBytes, slowSince },
    ...rest,
  } as unknown as ClientConnection;
}

function tableOf(connections: readonly ClientConnection[], handshakes: readonly ClientConnection[] = []) {
  const table = connectionTable(
    new Set(connections),
    (one) => handshakes.includes(one),
    () => NOW,
  );
  return async (sort: string, search = '', limit = 10) => {
    const query = { sort, descending: true, limit, search };
    const { rows, ...rest } = await table.list(query, new AbortController().signal);
    return { ...rest, rows: rows as readonly Readonly<Record<string, unknown>>[] };
  };
}

test('each connection is listed with what it holds, the slowest first', async () => {
  const list = tableOf([
    connection({ id: 'a', waitingBytes: 10 }),
    connection({ id: 'b', waitingBytes: 5_000, slowSince: NOW - 2_500 }),
    connection({ id: 'c', transport: 'sse', slowSince: NOW - 9_000 }),
  ]);
  const { count, rows } = await list('waitingBytes');
  assert.equal(count, 3);
  assert.deepEqual(rows[0], {
    id: 'b',
    transport: 'graphql-transport-ws',
    viewer: null,
    state: 'open',
    ageSeconds: 60,
    operations: 2,
    channels: 3,
    waitingBytes: 5_000,
    slowSeconds: 2.5,
  });
  const ids = (await list('slowSeconds')).rows.map(({ id }) => id);
  assert.deepEqual(ids, ['c', 'b', 'a'], 'one that is not slow comes last');
});

test('a connection is found by its id, transport, state and what identifies its viewer', async () => {
  const handshake = connection({ id: 'h1' });
  const list = tableOf(
    [
      handshake,
      connection({ id: 'a1', viewerTally: new ViewerTally('string Ann Smith') }),
      connection({ id: 'a2', viewerTally: new ViewerTally('number 42'), transport: 'multipart' }),
      connection({ id: 'a3', open: false }),
    ],
    [handshake],
  );
  const found = async (search: string) => (await list('viewer', search)).rows.map(({ id }) => id);
  assert.deepEqual(await found('H1'), ['h1']);
  assert.deepEqual(await found('ann s'), ['a1']);
  assert.deepEqual(await found('42'), ['a2']);
  assert.deepEqual(await found('multi'), ['a2']);
  assert.deepEqual(await found('closing'), ['a3']);
  assert.deepEqual(await found('handshake'), ['h1']);
  assert.deepEqual(
    (await list('viewer')).rows.map(({ viewer }) => viewer),
    ['Ann Smith', '42', null, null],
  );
});

test('of a hundred thousand connections, rows are made of those that are listed only', async () => {
  let ages = 0;
  const one = { ...connection({ id: 'x' }) };
  const connections = Array.from({ length: 100_000 }, (_, index) =>
    Object.defineProperty({ ...one, id: index.toString(36), operations: index }, 'openedAt', {
      get: () => {
        ages += 1;
        return 0;
      },
    }),
  );
  const { count, rows } = await tableOf(connections)('operations', '', 50);
  assert.equal(count, 100_000);
  assert.deepEqual(
    rows.map(({ operations }) => operations),
    Array.from({ length: 50 }, (_, index) => 99_999 - index),
  );
  assert.equal(ages, 50);
});
