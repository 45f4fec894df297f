import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, Socket, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { writeId } from '../../../../src/transports/delivery/frame-format.ts';
import { inflated } from '../../../../src/transports/websocket/client-message.ts';
import { NEXT_FRAMES } from '../../../../src/transports/websocket/frame.ts';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { range } from '../../../helpers/numbers.ts';
import { RawSocket } from '../../../../src/transports/websocket/raw-socket.ts';

/** Both ends of one WebSocket over loopback. */
async function pair(
  t: TestContext,
  perMessageDeflate: WebSocketServer['options']['perMessageDeflate'] = false,
) {
  const webSockets = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate });
  const http = createServer().listen(0, '127.0.0.1');
  t.after(() => http.close());
  await once(http, 'listening');
  const upgraded = new Promise<{ server: RawSocket; stream: Socket }>((resolve) => {
    http.once('upgrade', (request, stream, head) =>
      webSockets.handleUpgrade(request, stream, head, (webSocket) =>
        resolve({ server: new RawSocket(webSocket, stream, NEXT_FRAMES), stream: stream as Socket }),
      ),
    );
  });
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  t.after(() => client.terminate());
  const heard: string[] = [];
  client.on('message', (data: Buffer) => heard.push(data.toString()));
  client.on('ping', () => heard.push('ping'));
  client.on('pong', () => heard.push('pong'));
  const closed = once(client, 'close');
  await once(client, 'open');
  const { server, stream } = await upgraded;
  /** What the client has heard, frame by frame, once the server has closed. */
  const heardAtEnd = async (): Promise<string[]> => {
    server.webSocket.close(4000);
    assert.equal((await closed)[0], 4000);
    return heard.map(numberIn);
  };
  return { server, stream, client, closed, heardAtEnd };
}

const resultOf = (n: number, size = 0): SerializedResult =>
  new SerializedResult({ data: { n, text: 'x'.repeat(size) } });

function frameOf(n: number, size = 0): Buffer {
  const result = resultOf(n, size);
  const bytes = Buffer.alloc(NEXT_FRAMES.length(result, 1));
  writeId(bytes, NEXT_FRAMES.write(bytes, 0, result, 1), '1');
  return bytes;
}

function write(socket: RawSocket, frames: Buffer): void {
  socket.write(frames, frames.length);
}

const numberIn = (message: string): string => /"n":(\d+)/.exec(message)?.[1] ?? message;

test('this version of ws and of Node.js lets frames be written past both', async (t) => {
  const { server, stream, client } = await pair(t);
  assert.equal(server.isDirect, true);
  t.mock.method(stream, 'write', () => assert.fail('expected nothing to be written to the stream'));
  const message = once(client, 'message');
  write(server, frameOf(1));
  assert.match(String(await message), /"n":1/);
});

test('this version of ws tells what has come of a message of which the rest has not', async (t) => {
  const { server, client } = await pair(t);
  const { _socket: peer } = client as unknown as { _socket: Socket };
  const pieces = [
    // The head of a frame takes no room. Then: its length, 1,000, its mask, and half of its text.
    { sent: Buffer.from([0x81, 0xfe]), holds: 0 },
    { sent: Buffer.concat([Buffer.from([0x03, 0xe8, 0, 0, 0, 0]), Buffer.alloc(500, 'a')]), holds: 500 },
    { sent: Buffer.alloc(500, 'a'), holds: 0 },
    // A frame that is one of several, and the beginning of the next.
    { sent: Buffer.from([0x01, 0x82, 0, 0, 0, 0, 0x61, 0x61, 0x80]), holds: 3 },
  ];
  const { _socket: stream } = server.webSocket as unknown as { _socket: Socket };
  for (const { sent, holds } of pieces) {
    const read = once(stream, 'data');
    peer.write(sent);
    await read;
    assert.equal(server.unfinishedBytes, holds);
  }
});

test('this version of ws hands compressed messages over as they are, and keeps nothing for them', async (t) => {
  const { server, client } = await pair(t, { clientNoContextTakeover: true, threshold: 10 });
  const { _extensions: extensions } = server.webSocket as unknown as {
    _extensions: { readonly 'permessage-deflate': { readonly _inflate: unknown } };
  };
  const took: [boolean, string][] = [];
  server.webSocket.on('message', (data: Buffer) => {
    const isCompressed = server.tookCompressed();
    took.push([isCompressed, String(isCompressed ? inflated(data, 10_000) : data)]);
  });
  const long = 'one '.repeat(1_000);
  client.send(long);
  client.send('short');
  client.send(long.slice(0, 2_000), { fin: false });
  client.ping();
  client.send(long.slice(2_000));
  const closed = once(server.webSocket, 'close');
  client.close();
  await closed;
  assert.deepEqual(took, [
    [true, long],
    [false, 'short'],
    [true, long],
  ]);
  const { _inflate: inflater } = extensions['permessage-deflate'];
  assert.equal(inflater, null);
});

test('on a stream of another class, as TLS has, frames are written to the stream', async (t) => {
  const { server, stream, heardAtEnd } = await pair(t);
  Object.setPrototypeOf(stream, Object.create(Socket.prototype) as object);
  const other = new RawSocket(server.webSocket, stream, NEXT_FRAMES);
  const written = t.mock.method(stream, 'write');
  write(other, frameOf(1));
  assert.equal(written.mock.callCount(), 1);
  assert.deepEqual(await heardAtEnd(), ['1']);
});

/** A socket that has been closed, and a file that has its descriptor now: the lowest that is free is given out first. */
async function closedBeforeFile(t: TestContext) {
  const { server, stream, closed } = await pair(t);
  const { _handle: handle } = stream as unknown as { _handle: { fd: number } };
  const { fd } = handle;
  stream.destroy();
  await closed;
  const file = path.join(tmpdir(), `sluice-descriptor-${process.pid}`);
  const opened: number[] = [];
  t.after(() => {
    for (const one of opened) closeSync(one);
    rmSync(file);
  });
  while (opened.at(-1) !== fd && opened.length < 1_000) opened.push(openSync(file, 'w'));
  assert.equal(opened.at(-1), fd);
  return { server, stream, contents: () => readFileSync(file, 'utf8') };
}

test('frames for a connection that is closed never reach the one that has its descriptor now', async (t) => {
  const { server, contents } = await closedBeforeFile(t);
  write(server, frameOf(1));
  assert.equal(contents(), '');
});

test('frames for a stream that has got another handle never reach the one that has its descriptor now', async (t) => {
  const { server, stream, contents } = await closedBeforeFile(t);
  // Connecting again makes the stream writable, with a new handle.
  const peers = createTcpServer().listen(0, '127.0.0.1');
  t.after(() => peers.close());
  await once(peers, 'listening');
  const accepted = once(peers, 'connection') as Promise<[Socket]>;
  stream.connect((peers.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => stream.destroy());
  const [peer] = await accepted;
  t.after(() => peer.destroy());
  if (stream.connecting) await once(stream, 'connect');
  assert.equal(stream.writable, true);
  assert.equal(server.isDirect, true);
  write(server, frameOf(1));
  assert.equal(contents(), '');
});

test('frames written past ws and what ws sends reach the client in the order in which they were written', async (t) => {
  const { server, heardAtEnd } = await pair(t);
  write(server, frameOf(1));
  server.send('said');
  write(server, frameOf(2));
  server.webSocket.ping();
  write(server, Buffer.concat([frameOf(3), frameOf(4)]));
  server.webSocket.pong();
  server.writePieces(NEXT_FRAMES.pieces(resultOf(5, 70_000), '1'));
  server.send('x'.repeat(70_000));
  write(server, frameOf(6));
  const expected = ['1', 'said', '2', 'ping', '3', '4', 'pong', '5', 'x'.repeat(70_000), '6'];
  assert.deepEqual(await heardAtEnd(), expected);
});

test('order holds while the client does not read', async (t) => {
  const { server, client, heardAtEnd } = await pair(t);
  client.pause();
  const expected: string[] = [];
  for (let n = 0; !server.full || n % 5 !== 0; n += 1) {
    write(server, frameOf(n, 100_000));
    server.send(`said ${n}`);
    expected.push(`${n}`, `said ${n}`);
  }
  server.webSocket.ping();
  client.resume();
  assert.deepEqual(await heardAtEnd(), [...expected, 'ping']);
});

test('ws counts bytes that the socket holds, too, and the socket says when it has drained', async (t) => {
  const { server, client } = await pair(t);
  write(server, frameOf(1, 60_000));
  assert.equal(server.full, false, 'a large write has gone out at once');
  client.pause();
  while (!server.full) write(server, frameOf(1, 100_000));
  assert.ok(server.waitingBytes > 0);
  assert.equal(server.webSocket.bufferedAmount, server.waitingBytes);
  server.send('x'.repeat(1_000));
  assert.equal(server.webSocket.bufferedAmount, server.waitingBytes);
  const drained = new Promise<void>((resolve) => {
    server.onceDrained(resolve);
  });
  client.resume();
  await drained;
  assert.equal(server.waitingBytes, 0);
  assert.equal(server.full, false);
});

test('bytes may be changed as soon as they are written, sent or not', async (t) => {
  const { server, client, heardAtEnd } = await pair(t);
  const bytes = frameOf(0, 50_000);
  const at = bytes.indexOf('"n":') + 4;
  client.pause();
  const zero = '0'.charCodeAt(0);
  let count = 0;
  // What the operating system takes whole, in part, and not at all.
  for (let held = 0; held < 3; count += 1) {
    bytes[at] = zero + (count % 10);
    write(server, bytes);
    if (server.waitingBytes > 0) held += 1;
  }
  assert.ok(count > 3, 'at least one write was taken whole');
  client.resume();
  const digits = range(0, count).map((n) => `${n % 10}`);
  assert.deepEqual(await heardAtEnd(), digits);
});

test('a write writes only as many bytes of the buffer as it is told to', async (t) => {
  const { server, client, heardAtEnd } = await pair(t);
  const large = frameOf(1, 100_000);
  const bytes = Buffer.concat([large, frameOf(2)]);
  client.pause();
  for (let n = 0; n < 50; n += 1) server.write(bytes, large.length);
  client.resume();
  assert.deepEqual(await heardAtEnd(), Array(50).fill('1'));
});

test('while ws compresses, frames go through it, and order holds', async (t) => {
  const { server, heardAtEnd } = await pair(t, { threshold: 0 });
  server.send('x'.repeat(10_000));
  assert.equal(server.isDirect, false);
  const bytes = Buffer.concat([frameOf(1), frameOf(2)]);
  write(server, bytes);
  bytes.fill(0);
  server.writePieces(NEXT_FRAMES.pieces(resultOf(3), '1'));
  assert.deepEqual(await heardAtEnd(), ['x'.repeat(10_000), '1', '2', '3']);
});

for (const internal of ['_socket', '_sender']) {
  test(`with a ws that has no ${internal} each message goes through its send`, async (t) => {
    const { server, stream, heardAtEnd } = await pair(t);
    // ws itself needs this internal: it is hidden only from readers of this object.
    const without = new Proxy(server.webSocket, {
      get: (target, name) => {
        if (name === internal) return undefined;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const other = new RawSocket(without, stream, NEXT_FRAMES);
    assert.equal(other.isDirect, false);
    const bytes = Buffer.concat([frameOf(1), frameOf(2, 70_000)]);
    write(other, bytes);
    bytes.fill(0);
    assert.deepEqual(await heardAtEnd(), ['1', '2']);
  });
}

test('a socket is open until either side closes', async (t) => {
  const { server } = await pair(t);
  assert.equal(server.open, true);
  server.webSocket.close();
  assert.equal(server.open, false);
});

/** A server that is closing the socket, told of each frame that comes, and a client that has sent so many before it knows. */
async function closing(t: TestContext, frames: number) {
  const { server, client, closed } = await pair(t);
  let told = 0;
  server.webSocket.on('ping', () => {
    told += 1;
    server.takesFrame();
  });
  const gone = once(server.webSocket, 'close');
  server.webSocket.close(4000);
  for (let frame = 0; frame < frames; frame += 1) client.ping();
  const [code] = await gone;
  const [atClient] = await closed;
  return { told, code, atClient };
}

test('a socket that is being closed is read up to the answer of its client', async (t) => {
  assert.deepEqual(await closing(t, 499), { told: 499, code: 4000, atClient: 4000 });
});

test('a socket that is being closed, and whose client goes on to send, is read no further', async (t) => {
  const { told, atClient } = await closing(t, 5_000);
  assert.equal(atClient, 4000);
  // ws takes up what it has when the socket is destroyed, and is stopped again.
  assert.ok(told >= 500 && told < 510, `expected 500 frames, and one at the end, got ${told}`);
});

test('a socket that is open takes any number of frames', async (t) => {
  const { server } = await pair(t);
  assert.ok(range(0, 1_000).every(() => server.takesFrame()));
});
