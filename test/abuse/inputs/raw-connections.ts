import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Opened together: more would wait in the gateway's own queue of the operating system. */
const AT_ONCE = 250;

/**
 * Connections that each write what the attack has for them, as far as the gateway takes it, and are held for some time then.
 * They end with it, or where the gateway closes them.
 *
 * @param pieces of one connection; one without end has the gateway say when it has had enough
 */
export async function attackWith(
  port: number,
  count: number,
  pieces: (index: number) => Iterable<Buffer | string>,
  heldMs = 0,
): Promise<void> {
  const sockets: Socket[] = [];
  const writing: Promise<void>[] = [];
  const over = new AbortController();
  for (let index = 0; index < count; index += 1) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    // What the gateway answers is not looked at: it must not be what stops the gateway.
    socket.resume();
    writing.push(writeAll(socket, pieces(index), over.signal));
    if (index % AT_ONCE === AT_ONCE - 1) await delay(1);
  }
  const written = Promise.all(writing);
  // An attack without end, or on connections that are not read any more, ends by this.
  const most = delay(heldMs + 3_000, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([written.then(() => delay(heldMs)), most]);
  over.abort();
  for (const socket of sockets) socket.destroy();
  await written;
}

async function writeAll(
  socket: Socket,
  pieces: Iterable<Buffer | string>,
  signal: AbortSignal,
): Promise<void> {
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  for (const piece of pieces) {
    if (signal.aborted || socket.destroyed) return;
    if (socket.write(piece)) continue;
    await Promise.race([closed, new Promise<void>((resolve) => void socket.once('drain', resolve))]);
  }
}

/** The request that opens a WebSocket. @param headers further ones */
export const upgradeRequest = (headers = ''): string =>
  `GET /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: graphql-transport-ws\r\n${headers}\r\n`;

/** A request with a JSON body. @param length undefined: it comes in chunks, whose end need never come */
export const postHead = (length?: number): string =>
  `POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${
    length === undefined ? 'transfer-encoding: chunked' : `content-length: ${length}`
  }\r\n\r\n`;

/** @returns the same piece again and again */
export function* endless(piece: string | Buffer, first: string | Buffer = ''): Generator<string | Buffer> {
  if (first.length > 0) yield first;
  for (;;) yield piece;
}
