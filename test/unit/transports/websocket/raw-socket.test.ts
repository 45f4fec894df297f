import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, Socket, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import test, { type TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { writeId } from '../../../../src/transports/delivery/frame-format.ts';
import { NEXT_FRAMES } from '../../../../src/transports/websocket/frame.ts';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { RawSocket } from '../../../../src/transports/websocket/raw-socket.ts';

interface Pair {
  readonly server: RawSocket;
  readonly stream: Duplex;
  readonly client: WebSocket;
  /** What the client has heard, frame by frame. */
  readonly heard: string[];
  readonly closed: Promise<unknown>;
}

/** Both ends of one WebSocket over loopback. */
async function pair(
  t: TestContext,
  perMessageDeflate: boolean | { threshold: number } = false,
): Promise<Pair> {
  const webSockets = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate });
  const http = createServer().listen(0, '127.0.0.1');
  t.after(() => http.close());
  await once(http, 'listening');
  const upgraded = new Promise<{ server: RawSocket; stream: Duplex }>((resolve) => {
    http.once('upgrade', (request, stream, head) =>
      webSockets.handleUpgrade(request, stream, head, (webSocket) =>
        resolve({ server: new RawSocket(webSocket, stream, NEXT_FRAMES), stream }),
      ),
    );
  });
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  t.after(() => client.terminate());
  const heard: string[] = [];
  client.on('message', (data: Buffer) => heard.push(data.toString()));
  client.on('ping', () => heard.push('ping'));
  client.on('pong', () => heard.push('pong'));
  client.on('close', (code) => heard.push(`close ${code}`));
  const closed = once(client, 'close');
  await once(client, 'open');
  return { ...(await upgraded), client, heard, closed };
}

function frameOf(n: number, size = 0): Buffer {
  const result = new SerializedResult({ data: { n, text: 'x'.repeat(size) } });
  const bytes = Buffer.alloc(NEXT_FRAMES.length(result, 1));
  writeId(bytes, NEXT_FRAMES.write(bytes, 0, result, 1), '1');
  return bytes;
}

function write(socket: RawSocket, frames: Buffer): void {
  socket.write(frames, frames.length);
}

const numberIn = (message: string): string => /"n":(\d+)/.exec(message)?.[1] ?? message;

test('this version of ws lets frames be written past it', async (t) => {
  const { server } = await pair(t);
  assert.equal(server.isDirect, true);
});

/** Fails if the stream is written to. */
function forbidWrites(t: TestContext, stream: Duplex): void {
  t.mock.method(stream, 'write', () => assert.fail('expected nothing to be written to the stream'));
}

test('this version of Node.js lets frames be written past the stream', async (t) => {
  const { server, stream, client } = await pair(t);
  forbidWrites(t, stream);
  const message = once(client, 'message');
  write(server, frameOf(1));
  assert.match(String(await message), /"n":1/);
});

test('on a stream of another class, as TLS has, frames are written to the stream', async (t) => {
  const { server, stream, heard, closed } = await pair(t);
  Object.setPrototypeOf(stream, Object.create(Socket.prototype) as object);
  const other = new RawSocket(server.webSocket, stream, NEXT_FRAMES);
  const written = t.mock.method(stream, 'write');
  write(other, frameOf(1));
  assert.equal(written.mock.callCount(), 1);
  server.webSocket.close(4000);
  await closed;
  assert.deepEqual(heard.map(numberIn), ['1', 'close 4000']);
});

/** Opens a file until it has this descriptor: the lowest that is free is given out first. */
function fileWithDescriptor(t: TestContext, fd: number): string {
  const file = path.join(tmpdir(), `sluice-descriptor-${process.pid}`);
  const opened: number[] = [];
  t.after(() => {
    for (const one of opened) closeSync(one);
    rmSync(file);
  });
  while (opened.at(-1) !== fd && opened.length < 1_000) opened.push(openSync(file, 'w'));
  assert.equal(opened.at(-1), fd);
  return file;
}

test('frames for a connection that is closed never reach the one that has its descriptor now', async (t) => {
  const { server, stream, closed } = await pair(t);
  const { _handle: handle } = stream as unknown as { _handle: { fd: number } };
  const { fd } = handle;
  stream.destroy();
  await closed;
  const file = fileWithDescriptor(t, fd);
  write(server, frameOf(1));
  assert.equal(readFileSync(file, 'utf8'), '');
});

test('frames for a stream that has got another handle never reach the one that has its descriptor now', async (t) => {
  const { server, stream, closed } = await pair(t);
  const socket = stream as Socket;
  const { _handle: handle } = stream as unknown as { _handle: { fd: number } };
  const { fd } = handle;
  socket.destroy();
  await closed;
  const file = fileWithDescriptor(t, fd);
  // Connecting again makes the stream writable, with a new handle.
  const peers = createTcpServer().listen(0, '127.0.0.1');
  t.after(() => peers.close());
  await once(peers, 'listening');
  const accepted = once(peers, 'connection') as Promise<[Socket]>;
  socket.connect((peers.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => socket.destroy());
  const [peer] = await accepted;
  t.after(() => peer.destroy());
  if (socket.connecting) await once(socket, 'connect');
  assert.equal(socket.writable, true);
  assert.equal(server.isDirect, true);
  write(server, frameOf(1));
  assert.equal(readFileSync(file, 'utf8'), '');
});

test('frames written past ws and what ws sends reach the client in the order in which they were written', async (t) => {
  const { server, heard, closed } = await pair(t);
  write(server, frameOf(1));
  server.send('said');
  write(server, frameOf(2));
  server.webSocket.ping();
  write(server, Buffer.concat([frameOf(3), frameOf(4)]));
  server.webSocket.pong();
  server.writePieces(
    NEXT_FRAMES.pieces(new SerializedResult({ data: { n: 5, text: 'x'.repeat(70_000) } }), '1'),
  );
  server.send('x'.repeat(70_000));
  write(server, frameOf(6));
  server.webSocket.close(4000);
  await closed;
  const expected = ['1', 'said', '2', 'ping', '3', '4', 'pong', '5', 'x'.repeat(70_000), '6', 'close 4000'];
  assert.deepEqual(heard.map(numberIn), expected);
});

test('order holds while the client does not read', async (t) => {
  const { server, client, heard, closed } = await pair(t);
  client.pause();
  const expected: string[] = [];
  for (let n = 0; !server.full || n % 5 !== 0; n += 1) {
    write(server, frameOf(n, 100_000));
    server.send(`said ${n}`);
    expected.push(`${n}`, `said ${n}`);
  }
  server.webSocket.ping();
  server.webSocket.close(4000);
  client.resume();
  await closed;
  assert.deepEqual(heard.map(numberIn), [...expected, 'ping', 'close 4000']);
});

test('ws counts bytes that the socket holds, too, and the socket says when it has drained', async (t) => {
  const { server, client } = await pair(t);
  client.pause();
  assert.equal(server.full, false);
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

test('a large write that has gone out at once does not make a socket full', async (t) => {
  const { server } = await pair(t);
  write(server, frameOf(1, 60_000));
  assert.equal(server.full, false);
});

test('bytes may be changed as soon as they are written, sent or not', async (t) => {
  const { server, client, heard, closed } = await pair(t);
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
  server.webSocket.close(4000);
  await closed;
  const expected = Array.from({ length: count }, (_, index) => `${index % 10}`);
  assert.deepEqual(heard.map(numberIn), [...expected, 'close 4000']);
});

test('a write writes only as many bytes of the buffer as it is told to', async (t) => {
  const { server, client, heard, closed } = await pair(t);
  const large = frameOf(1, 100_000);
  const bytes = Buffer.concat([large, frameOf(2)]);
  client.pause();
  for (let n = 0; n < 50; n += 1) server.write(bytes, large.length);
  client.resume();
  server.webSocket.close(4000);
  await closed;
  assert.deepEqual(heard.map(numberIn), [...Array.from({ length: 50 }, () => '1'), 'close 4000']);
});

test('while ws compresses, frames go through it, and order holds', async (t) => {
  const { server, heard, closed } = await pair(t, { threshold: 0 });
  server.send('x'.repeat(10_000));
  assert.equal(server.isDirect, false);
  const bytes = Buffer.concat([frameOf(1), frameOf(2)]);
  write(server, bytes);
  bytes.fill(0);
  server.writePieces(NEXT_FRAMES.pieces(new SerializedResult({ data: { n: 3 } }), '1'));
  server.webSocket.close(4000);
  await closed;
  assert.deepEqual(heard.map(numberIn), ['x'.repeat(10_000), '1', '2', '3', 'close 4000']);
});

for (const internal of ['_socket', '_sender']) {
  test(`with a ws that has no ${internal} each message goes through its send`, async (t) => {
    const { server, stream, heard, closed } = await pair(t);
    const { webSocket } = server;
    // ws itself needs this internal: it is hidden only from readers of this object.
    const other = new RawSocket(
      new Proxy(webSocket, {
        get: (target, name) => {
          if (name === internal) return undefined;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
      stream,
      NEXT_FRAMES,
    );
    assert.equal(other.isDirect, false);
    const bytes = Buffer.concat([frameOf(1), frameOf(2, 70_000)]);
    write(other, bytes);
    bytes.fill(0);
    webSocket.close(4000);
    await closed;
    assert.deepEqual(heard.map(numberIn), ['1', '2', 'close 4000']);
  });
}

test('a socket is open until either side closes', async (t) => {
  const { server } = await pair(t);
  assert.equal(server.open, true);
  server.webSocket.close();
  assert.equal(server.open, false);
});
