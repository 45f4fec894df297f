import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import type { WebSocket } from 'ws';
import { NEXT_FRAMES } from '../../src/transports/websocket/frame.ts';
import { RawSocket } from '../../src/transports/websocket/raw-socket.ts';
import { untilWritten, type Destination, type Pieces } from './destination.ts';
import type { ReceiverAnswer, ReceiverRequest } from './socket-receiver.ts';

/** Sockets on loopback that another process reads, so that this process's CPU is the sender's alone. */
export class SocketDestination implements Destination {
  readonly sinks: readonly Pieces[];
  readonly #sockets: readonly Socket[];
  readonly #receiver: ChildProcess;
  #written = 0;

  private constructor(sockets: readonly Socket[], receiver: ChildProcess) {
    this.#sockets = sockets;
    this.#receiver = receiver;
    this.sinks = sockets.map((socket) => {
      const raw = rawSocketOf(socket);
      return {
        get waitingBytes() {
          return socket.writableLength;
        },
        write: (...pieces: readonly Buffer[]) => {
          for (const { length } of pieces) this.#written += length;
          const [only] = pieces;
          if (pieces.length === 1 && only !== undefined) socket.write(only);
          else writeCorked(socket, pieces);
        },
        take: (bytes: Buffer, length: number) => {
          this.#written += length;
          raw.write(bytes, length);
        },
      };
    });
  }

  static async open(count: number): Promise<SocketDestination> {
    const receiver = fork(path.join(import.meta.dirname, 'socket-receiver.js'), { stdio: 'inherit' });
    const [port] = (await once(receiver, 'message')) as [number];
    const sockets: Socket[] = [];
    // The sockets connect one after the other: the receiver identifies them by that order.
    while (sockets.length < count) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      sockets.push(socket);
    }
    return new SocketDestination(sockets, receiver);
  }

  async received(expected: number): Promise<number> {
    await untilWritten(() => this.#written, expected);
    const bytes = this.#written;
    this.#written = 0;
    await this.#ask({ await: bytes });
    return bytes;
  }

  async digest(send: () => Promise<unknown>): Promise<string> {
    await this.#ask({ record: true });
    await send();
    return String(await this.#ask({ digest: true }));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const gone = once(this.#receiver, 'exit');
    this.#receiver.disconnect();
    await gone;
  }

  async #ask(request: ReceiverRequest): Promise<ReceiverAnswer> {
    const answer = once(this.#receiver, 'message');
    this.#receiver.send(request);
    return ((await answer) as [ReceiverAnswer])[0];
  }
}

/** Returns the socket as the gateway sees it: a WebSocket that sends no frames of its own. */
function rawSocketOf(socket: Socket): RawSocket {
  const idle = { _socket: socket, _sender: { _state: 0 } };
  const raw = new RawSocket(idle as unknown as WebSocket, socket, NEXT_FRAMES);
  if (!raw.isDirect) throw new Error('expected frames to be written past ws');
  return raw;
}

/** Writes header and payload as ws does. */
function writeCorked(socket: Socket, pieces: readonly Buffer[]): void {
  socket.cork();
  for (const piece of pieces) socket.write(piece);
  socket.uncork();
}
