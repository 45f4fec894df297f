import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';

/** A port that leads to a server, as a name does that can move to another one; and a network that can fail. */
export class TcpRelay {
  readonly #server: net.Server;
  readonly #pairs = new Set<readonly [net.Socket, net.Socket]>();
  #target: number;
  #isRefusing = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = net.createServer((socket) => this.#accept(socket));
  }

  static async start(t: TestContext, target: number): Promise<TcpRelay> {
    const relay = new TcpRelay(target);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    t.after(() => {
      relay.#server.close();
      relay.cut();
    });
    return relay;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** From now on connections go there; those that are open stay. */
  moveTo(target: number): void {
    this.#target = target;
  }

  /** Closes all connections. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  /** Closes all connections, and every new one at once, until `admit`. */
  refuse(): void {
    this.#isRefusing = true;
    this.cut();
  }

  admit(): void {
    this.#isRefusing = false;
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

  #accept(client: net.Socket): void {
    if (this.#isRefusing) {
      client.destroy();
      return;
    }
    const server = net.connect(this.#target, '127.0.0.1');
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.pipe(other);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#pairs.delete(pair);
        other.destroy();
      });
    }
  }
}
