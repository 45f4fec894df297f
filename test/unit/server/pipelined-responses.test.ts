import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { ownBytes } from '../../../src/support/byte-budget.ts';
import { Changes } from '../../helpers/changes.ts';
import { ask, dial, done, listen } from './serve.ts';
import { deferred } from '../../helpers/deferred.ts';

/** More than a system's buffers hold of one response. */
const BYTES = 10_000_000;

const ROOM = ownBytes(1_000_000_000);

const REQUEST = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';

/** Refuses a request for any host but `localhost`. */
const refusal = ({ headers }: { headers: { host?: string } }) =>
  headers.host === 'localhost' ? undefined : 'not here';

/** A server that answers `/quick`, and nothing else, and what it has been asked for. */
async function unanswering(t: TestContext, most: number) {
  const asked: string[] = [];
  const changes = new Changes();
  let refused = 0;
  const { port } = await listen(t, {
    handle: async ({ url = '' }, response) => {
      asked.push(url);
      changes.emit();
      if (url === '/quick') response.end('done');
    },
    pipelined: { most, unread: ROOM, refused: () => refused++ },
  });
  const untilAsked = (count: number) =>
    changes.until(
      () => asked.length >= count || undefined,
      () => `expected ${count} requests, got ${asked.length}`,
    );
  return { port, asked, untilAsked, refused: () => refused };
}

describe('PipelinedResponses', () => {
  it('closes a connection with too many requests that wait, and leaves the rest of what has been read', async (t) => {
    const { port, asked, refused } = await unanswering(t, 110);
    // All of it is read at once.
    await once(dial(t, port, REQUEST.repeat(1_500)), 'close');
    assert.deepEqual([asked.length, refused()], [1, 1]);
    assert.equal((await ask(port, '/quick')).status, 200);
  });

  it('leaves less to each of many connections, so that there is room for one that has few', async (t) => {
    const { port, asked, untilAsked, refused } = await unanswering(t, 40);
    for (let connection = 1; connection <= 20; connection += 1) {
      dial(t, port, REQUEST.repeat(2));
      await untilAsked(connection);
    }
    await once(dial(t, port, REQUEST.repeat(6)), 'close');
    assert.deepEqual([asked.length, refused()], [21, 1]);
  });

  it('frees the places of responses that have been sent', async (t) => {
    const { port, refused } = await unanswering(t, 50);
    const socket = dial(t, port);
    for (let round = 0; round < 20; round += 1) {
      socket.write(REQUEST.replace('/ ', '/quick ').repeat(4));
      let received = '';
      while (received.split('HTTP/1.1 200').length <= 4) {
        const [data] = (await once(socket, 'data')) as [Buffer];
        received += data.toString('latin1');
      }
    }
    assert.equal(refused(), 0);
  });

  it('handles a request once those before it have been answered, each in a turn of its own', async (t) => {
    const responses: ServerResponse[] = [];
    const asked = new Changes();
    let turn = 0;
    const turns: number[] = [];
    const { port } = await listen(t, {
      handle: async (_request, response) => {
        turns.push(turn);
        setImmediate(() => (turn += 1));
        if (responses.push(response) > 1) response.end();
        asked.emit();
      },
      pipelined: { most: 1_000, unread: ROOM },
    });
    dial(t, port, REQUEST.repeat(20));
    await asked.until(
      () => responses[0],
      () => 'expected a request',
    );
    await once(dial(t, port, REQUEST), 'data');
    assert.equal(responses.length, 2, 'the others have not been handled');
    responses[0]?.end();
    await asked.until(
      () => responses.length === 21 || undefined,
      () => `expected 21 requests, got ${responses.length}`,
    );
    assert.equal(new Set(turns).size, 21, turns.join());
  });

  it('handles one request at a time, also behind some that are refused for their host', async (t) => {
    const asked: (string | undefined)[] = [];
    const { port } = await listen(t, {
      handle: async ({ url }, response) => {
        asked.push(url);
        if (url !== '/held') response.end();
      },
      hostCheck: { refusal } as never,
      pipelined: { most: 1_000, unread: ROOM },
    });
    const held = REQUEST.replace('/ ', '/held ').repeat(20);
    const socket = dial(t, port, REQUEST + REQUEST.replace('localhost', 'other').repeat(20) + held);
    let received = '';
    while (received.split('HTTP/1.1 403').length <= 20) {
      const [data] = (await once(socket, 'data')) as [Buffer];
      received += data.toString('latin1');
    }
    for (let turn = 0; turn < 20; turn += 1) await ask(port, '/other', { headers: { host: 'localhost' } });
    assert.deepEqual(
      asked.filter((url) => url !== '/other'),
      ['/', '/held'],
    );
  });

  it('sends one response of any length', async (t) => {
    const { port } = await listen(t, {
      handle: async (_request, response) => void response.end('x'.repeat(100_000)),
      pipelined: { most: 1_000, unread: ownBytes(10) },
    });
    assert.equal((await ask(port, '/')).body.length, 100_000);
  });

  it('closes the connection with most that is unread where all of that has no room', async (t) => {
    const asked = deferred();
    let refusals = 0;
    const { port } = await listen(t, {
      handle: async ({ url }, response) => {
        response.end(Buffer.alloc(url === '/' ? 2 * BYTES : BYTES));
        asked.resolve();
      },
      pipelined: { most: 1_000, unread: ownBytes(1.7 * BYTES), refused: () => refusals++ },
    });
    const stalled = dial(t, port, REQUEST).pause();
    await asked.promise;
    // Systems take a few megabytes of it at once.
    assert.equal((await ask(port, '/half')).body.length, BYTES);
    stalled.resume();
    await once(stalled, 'close');
    assert.equal((await ask(port, '/half')).body.length, BYTES);
    assert.equal(refusals, 1);
  });

  it('bounds nothing of clients that wait for each response', async (t) => {
    const { port } = await listen(t, { handle: done, pipelined: { most: 1, unread: ROOM } });
    for (let request = 0; request < 5; request += 1) assert.equal((await ask(port, '/')).status, 200);
  });
});
