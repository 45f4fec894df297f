import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { readBody } from '../../../src/server/body.ts';
import { dial, listen } from './serve.ts';

const HEAD = 'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n';

const chunks = (count: number, bytes: number): string =>
  `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`.repeat(count);

/** A connection to a server that tells how long a body was. */
async function posting(t: TestContext, sent: string): Promise<Socket> {
  const { port } = await listen(t, {
    handle: async (request, response) => {
      const body = await readBody(request, 1_000_000).catch(() => Buffer.alloc(0));
      response.end(`of ${body.length} bytes`);
    },
  });
  return dial(t, port, sent);
}

describe('ChunkedRequest', () => {
  it('closes the connection of a body that comes in many small chunks', async (t) => {
    const socket = await posting(t, HEAD + chunks(129, 1));
    await once(socket, 'close', { signal: AbortSignal.timeout(60_000) });
  });

  for (const [what, count, bytes] of [
    ['some small chunks', 128, 1],
    ['many chunks that are not small', 300, 512],
  ] as const) {
    it(`takes a body in ${what}`, async (t) => {
      const socket = await posting(t, `${HEAD}${chunks(count, bytes)}0\r\n\r\n`);
      const [data] = (await once(socket, 'data')) as [Buffer];
      assert.match(data.toString(), new RegExp(` ${count * bytes} bytes`));
    });
  }
});
