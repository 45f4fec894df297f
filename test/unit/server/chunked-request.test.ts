import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { readBody } from '../../../src/server/body.ts';
import { listen } from './serve.ts';

const HEAD = 'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n';

const chunks = (count: number, bytes: number): string =>
  `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`.repeat(count);

/** A server that tells how long a body was. */
async function posting(t: TestContext): Promise<Socket> {
  const { port } = await listen(t, {
    handle: async (request, response) => {
      const body = await readBody(request, 1_000_000).catch(() => Buffer.alloc(0));
      response.end(`${body.length} bytes`);
    },
  });
  const socket = connect(port, 'localhost');
  t.after(() => socket.destroy());
  return socket.on('error', () => undefined);
}

async function answer(socket: Socket): Promise<string> {
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString('latin1');
}

describe('ChunkedRequest', () => {
  it('closes the connection of a body that comes in many small chunks', async (t) => {
    const socket = await posting(t);
    socket.write(HEAD + chunks(129, 1));
    await once(socket, 'close');
  });

  it('takes a body in some small chunks', async (t) => {
    const socket = await posting(t);
    socket.write(`${HEAD}${chunks(128, 1)}0\r\n\r\n`);
    assert.match(await answer(socket), /128 bytes/);
  });

  it('takes a body in many chunks that are not small', async (t) => {
    const socket = await posting(t);
    socket.write(`${HEAD}${chunks(300, 512)}0\r\n\r\n`);
    assert.match(await answer(socket), /153600 bytes/);
  });
});
