import assert from 'node:assert/strict';
import test from 'node:test';
import type { ClientConnection } from '../../../../src/transports/connections/client-connection.ts';
import { range } from '../../../helpers/numbers.ts';
import { connectionTable } from '../../../../src/transports/connections/connection-table.ts';
import { ViewerTally } from '../../../../src/transports/connections/viewers.ts';

const NOW = 1_700_000_100_000;

interface Faked extends Partial<Pick<ClientConnection, 'transport' | 'viewerTally' | 'open'>> {
  readonly id: string;
  readonly waitingBytes?: number;
  readonly slowSince?: number;
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
  const searched = { H1: 'h1', 'ann s': 'a1', '42': 'a2', multi: 'a2', closing: 'a3', handshake: 'h1' };
  for (const [search, id] of Object.entries(searched)) {
    const found = (await list('viewer', search)).rows.map((row) => row['id']);
    assert.deepEqual(found, [id], search);
  }
  const viewers = (await list('viewer')).rows.map(({ viewer }) => viewer);
  assert.deepEqual(viewers, ['Ann Smith', '42', null, null]);
});

test('of a hundred thousand connections, rows are made of those that are listed only', async () => {
  let ages = 0;
  const one = { ...connection({ id: 'x' }) };
  const connections = range(0, 100_000).map((index) =>
    Object.defineProperty({ ...one, id: index.toString(36), operations: index }, 'openedAt', {
      get: () => {
        ages += 1;
        return 0;
      },
    }),
  );
  const { count, rows } = await tableOf(connections)('operations', '', 50);
  assert.equal(count, 100_000);
  const listed = rows.map(({ operations }) => operations);
  assert.deepEqual(listed, range(99_950, 100_000).toReversed());
  assert.equal(ages, 50);
});
