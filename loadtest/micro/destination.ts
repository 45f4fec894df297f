import { fork, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import type { WebSocket } from 'ws';
import { RawSocket } from '../../src/transports/websocket/raw-socket.ts';
import type { Sink } from './hub-parts.ts';
import type { Answer, Question } from './socket-receiver.ts';

/** Where one subscriber's frames go, in one piece or more. */
export interface Pieces extends Sink {
  /** Bytes that nobody changes. */
  write(...pieces: readonly Buffer[]): void;
}

export interface Destination {
  readonly sinks: readonly Pieces[];
  /**
   * Resolves when all that is being written has arrived.
   *
   * @param expected bytes since it was last asked
   * @returns bytes that have arrived since then
   */
  received(expected: number): Promise<number>;
  /** @returns a digest of all that `send` makes arrive */
  digest(send: () => Promise<unknown>): Promise<string>;
  close(): void | Promise<void>;
}

/** Takes bytes and lets go of them: what is left is the cost of the JavaScript. */
export class NullDestination implements Destination {
  readonly sinks: readonly Pieces[];
  #bytes = 0;
  #kept: Buffer[][] | undefined;

  constructor(count: number) {
    this.sinks = Array.from({ length: count }, (_, index) => ({
      waitingBytes: 0,
      write: (...pieces: readonly Buffer[]) => {
        for (const piece of pieces) this.#take(index, piece, piece.length);
      },
      take: (bytes, length) => this.#take(index, bytes, length),
    }));
  }

  #take(index: number, bytes: Buffer, length: number): void {
    this.#bytes += length;
    if (this.#kept !== undefined) (this.#kept[index] ??= []).push(Buffer.from(bytes.subarray(0, length)));
  }

  async received(expected: number): Promise<number> {
    await untilWritten(() => this.#bytes, expected);
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  async digest(send: () => Promise<unknown>): Promise<string> {
    const kept: Buffer[][] = [];
    this.#kept = kept;
    await send();
    this.#kept = undefined;
    const hash = createHash('sha256');
    for (const pieces of kept) hash.update(createHash('sha256').update(Buffer.concat(pieces)).digest());
    return hash.digest('hex');
  }

  close(): void {}
}

/** Sockets on loopback, read in another process, so that this one's CPU is the sender's alone. */
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
    // One after the other: the receiver knows them by the order in which they come.
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

  async #ask(question: Question): Promise<Answer> {
    const answer = once(this.#receiver, 'message');
    this.#receiver.send(question);
    return ((await answer) as [Answer])[0];
  }
}

/** A flush may take several turns; a variant that writes too little must not be waited for. */
const PATIENCE = 1_000;

async function untilWritten(written: () => number, expected: number): Promise<void> {
  for (let turn = 0; turn < PATIENCE && written() < expected; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** As the gateway writes: to it this is a WebSocket that has nothing to say by itself. */
function rawSocketOf(socket: Socket): RawSocket {
  const idle = { _socket: socket, _sender: { _state: 0 } };
  const raw = new RawSocket(idle as unknown as WebSocket, socket);
  if (!raw.isDirect) throw new Error('expected frames to be written past ws');
  return raw;
}

/** As ws writes header and payload. */
function writeCorked(socket: Socket, pieces: readonly Buffer[]): void {
  socket.cork();
  for (const piece of pieces) socket.write(piece);
  socket.uncork();
}
