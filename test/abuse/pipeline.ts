import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Changes } from '../helpers/changes.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import type { Scope } from '../helpers/scope.ts';

/** @param headers each with its end of line */
export function post(path: string, body: string, headers = ''): string {
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${headers}`;
  return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A client that sends requests one behind the other, and does not mind the answers. */
export class Pipeline {
  readonly socket: Socket;
  /** In the order of the requests. */
  readonly statuses: number[] = [];
  readonly #changes = new Changes();
  #rest = '';

  constructor(scope: Scope, { port }: GatewayProcess) {
    this.socket = connect(port, '127.0.0.1');
    scope.after(() => this.socket.destroy());
    this.socket.on('error', () => undefined);
    this.socket.setEncoding('latin1').on('data', (text: string) => {
      const all = this.#rest + text;
      let end = 0;
      for (const { 0: line, 1: status, index } of all.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        this.statuses.push(Number(status));
        end = index + line.length;
      }
      // A status line may go on in the next packet.
      this.#rest = all.slice(Math.max(end, all.length - 'HTTP/1.1 20'.length));
      this.#changes.emit();
    });
  }

  /** Sends as fast as the gateway reads, until it has all or is left. */
  async send(bodies: Iterable<string>, headers = ''): Promise<void> {
    for (const body of bodies) {
      if (this.socket.write(post('/graphql', body, headers))) continue;
      await Promise.race([once(this.socket, 'drain'), once(this.socket, 'close')]);
      if (this.socket.destroyed) return;
    }
  }

  async until(count: number): Promise<void> {
    await this.#changes.until(
      () => this.statuses.length >= count || undefined,
      () => `expected ${count} responses, got ${this.statuses.length}`,
    );
  }
}
