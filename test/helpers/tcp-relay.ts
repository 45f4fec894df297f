import { once } from 'node:events';
import net from 'node:net';
import { Transform } from 'node:stream';
import type { Scope } from './scope.ts';

/** More than a test has on its way at once. */
const LATE_BYTES = 64 * 1024 * 1024;

/** A port that leads to a server, as a name does that can move to another one; and a network that can fail. */
export class TcpRelay {
  readonly #server: net.Server;
  readonly #pairs = new Set<readonly [net.Socket, net.Socket]>();
  #target: number;
  #carriedBytes = 0;
  #isRefusing = false;
  #isStalling = false;
  #delayMs = 0;
  /** Connections that carry nothing. */
  readonly #stalled = new Set<net.Socket>();

  private constructor(target: number) {
    this.#target = target;
    this.#server = net.createServer((socket) => this.#accept(socket));
  }

  /** @param target none: connections are refused until `moveTo` */
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

  /** From the server to its clients, so far. */
  get carriedBytes(): number {
    return this.#carriedBytes;
  }

  /** From now on connections go there; those that are open stay. */
  moveTo(target: number): void {
    this.#target = target;
  }

  /** Closes all connections. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    for (const socket of this.#stalled) socket.destroy();
  }

  /** Closes all connections, and every new one at once, until `admit`. */
  refuse(): void {
    this.#isRefusing = true;
    this.cut();
  }

  admit(): void {
    this.#isRefusing = false;
  }

  /** Every new connection is accepted, and carries nothing, until `flow`; nor do those ever after. */
  stall(): void {
    this.#isStalling = true;
  }

  flow(): void {
    this.#isStalling = false;
  }

  /** Resolves when so many connections carry nothing. */
  async stalled(count: number): Promise<void> {
    while (this.#stalled.size < count) await once(this.#server, 'connection');
  }

  /** What servers send over new connections comes so much later, in order. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** The connections of now stay open, and carry nothing any more. */
  freeze(): void {
    for (const [client, server] of this.#pairs) {
      client.unpipe();
      server.unpipe();
      client.pause();
      server.resume();
    }
  }

  /** A stream whose chunks wait side by side: each has the delay of its own. */
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
      // An end of the server closes both at once, so what it sent last is lost in a stream that takes a turn.
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
