import { once } from 'node:events';
import net from 'node:net';
import { Transform } from 'node:stream';
import type { Scope } from './scope.ts';

/** More bytes than a test has on their way at once. */
const LATE_BYTES = 64 * 1024 * 1024;

/** A port that leads to a server, and to another one after `moveTo`, like a DNS name; and a network that can fail. */
export class TcpRelay {
  readonly #server: net.Server;
  readonly #pairs = new Set<readonly [net.Socket, net.Socket]>();
  #target: number;
  #carriedBytes = 0;
  #isRefusing = false;
  #isStalling = false;
  #delayMs = 0;
  /** Connections that carry no bytes. */
  readonly #stalled = new Set<net.Socket>();

  private constructor(target: number) {
    this.#target = target;
    this.#server = net.createServer((socket) => this.#accept(socket));
  }

  /** @param target port of the server; 0: connections fail until `moveTo` */
  static async start(scope: Scope, target = 0): Promise<TcpRelay> {
    const relay = new TcpRelay(target);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    scope.after(() => {
      relay.#server.close();
      relay.cut();
    });
    return relay;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** The number of bytes from the server to its clients so far. */
  get carriedBytes(): number {
    return this.#carriedBytes;
  }

  /** New connections go to this port from now on; open ones stay. */
  moveTo(target: number): void {
    this.#target = target;
  }

  /** Closes all connections. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    for (const socket of this.#stalled) socket.destroy();
  }

  /** Closes all connections, and each new one at once, until `admit`. */
  refuse(): void {
    this.#isRefusing = true;
    this.cut();
  }

  admit(): void {
    this.#isRefusing = false;
  }

  /** Until `flow`, new connections are accepted and carry no bytes, not even after `flow`. */
  stall(): void {
    this.#isStalling = true;
  }

  flow(): void {
    this.#isStalling = false;
  }

  /** Resolves when `count` connections carry no bytes. */
  async stalled(count: number): Promise<void> {
    while (this.#stalled.size < count) await once(this.#server, 'connection');
  }

  /** Bytes from servers over new connections come later by this delay, in order. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Present connections stay open, and carry no bytes any more. */
  freeze(): void {
    for (const [client, server] of this.#pairs) {
      client.unpipe();
      server.unpipe();
      client.pause();
      server.resume();
    }
  }

  /** A stream that delays each chunk by the same time, with many chunks waiting at once. */
  #late(): Transform {
    const delayMs = this.#delayMs;
    const late = new Transform({
      highWaterMark: LATE_BYTES,
      transform: (chunk: Buffer, _encoding, done) => {
        setTimeout(() => late.push(chunk), delayMs);
        done();
      },
      flush: (done) => setTimeout(done, delayMs),
    });
    return late;
  }

  #accept(client: net.Socket): void {
    if (this.#isRefusing) {
      client.destroy();
      return;
    }
    if (this.#isStalling) {
      this.#stalled.add(client);
      client.on('error', () => undefined);
      client.on('close', () => this.#stalled.delete(client));
      client.resume();
      return;
    }
    const server = net.connect(this.#target, '127.0.0.1');
    server.on('data', (chunk: Buffer) => (this.#carriedBytes += chunk.length));
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      // A closed socket destroys the other at once, so a stream in between, used only for delays, loses the last bytes.
      if (one === client || this.#delayMs === 0) one.pipe(other);
      else one.pipe(this.#late()).pipe(other);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#pairs.delete(pair);
        other.destroy();
      });
    }
  }
}
