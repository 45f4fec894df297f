import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { GraphQLSchema } from 'graphql';
import { Random } from '../helpers/random.ts';
import { DocumentGrammar } from './document.ts';
import { frame, oddFrames, unfinished } from './frame.ts';
import { MessageGrammar } from './message.ts';
import { AUCTION as WITNESSED } from './witness.ts';

/** The ways in which a hostile client uses a connection. */
export const KINDS = [
  'bytes',
  'http',
  'upgrade',
  'frames',
  'messages',
  'documents',
  'storm',
  'resumption',
  'rejection',
  'unfinished',
  'pipeline',
  'slow',
] as const;

export type Kind = (typeof KINDS)[number];

interface SessionOptions {
  readonly port: number;
  readonly schema: GraphQLSchema;
  readonly seed: number;
  readonly number: number;
}

const FLOOD = 'subscription { property_update { property_id headline address { formatted } } }';

/** The longest time of a session in ms, even if the server neither replies nor closes. */
const LONGEST_MS = 3_000;

/** One connection of a hostile client. Its actions follow from seed and number alone. */
export class Session {
  readonly kind: Kind;
  readonly #random: Random;
  readonly #messages: MessageGrammar;
  readonly #documents: DocumentGrammar;
  readonly #socket: Socket;

  constructor({ port, schema, seed, number }: SessionOptions) {
    this.#random = Random.of(seed, `session ${number}`);
    this.kind = this.#random.pick(KINDS);
    this.#documents = new DocumentGrammar(schema, this.#random);
    this.#messages = new MessageGrammar(this.#random, this.#documents);
    this.#socket = connect({ port, host: '127.0.0.1' });
    // A server may reset the connection of a hostile client.
    this.#socket.on('error', () => undefined);
  }

  /** Resolves when the connection is closed. */
  async run(): Promise<void> {
    const socket = this.#socket;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const ending = setTimeout(() => socket.destroy(), LONGEST_MS);
    await Promise.race([once(socket, 'connect').catch(() => undefined), closed]);
    socket.resume();
    await Promise.race([this.#act(), closed]);
    this.#leave();
    await closed;
    clearTimeout(ending);
  }

  async #act(): Promise<void> {
    const random = this.#random;
    switch (this.kind) {
      case 'bytes':
        return this.#write(oddFrames(random), random.pick(['\r\n\r\n', '', 'GET / HTTP/1.1\r\nHost: x']));
      case 'http':
        return this.#times(3, () => this.#write(this.#httpRequest()));
      case 'upgrade':
        return this.#write(this.#upgrade(true));
      case 'frames':
        this.#write(this.#upgrade(), frame(this.#messages.init()));
        return this.#times(4, () => this.#write(oddFrames(random)));
      case 'messages':
        this.#write(this.#upgrade(), random.chance(0.8) ? frame(this.#messages.init()) : '');
        return this.#times(6, () =>
          this.#write(frame(random.chance(0.5) ? this.#messages.odd() : this.#messages.operation())),
        );
      case 'documents':
        this.#write(this.#upgrade(), frame(this.#messages.init()));
        return this.#times(12, () => this.#write(frame(this.#messages.operation())));
      case 'storm':
        this.#write(this.#upgrade(), frame(this.#messages.init()));
        return this.#times(3, () => this.#write(...this.#messages.storm().map((text) => frame(text))));
      case 'resumption':
        this.#write(this.#upgrade(), frame(this.#messages.init()));
        return this.#times(3, () =>
          this.#write(...this.#messages.resumption(WITNESSED).map((text) => frame(text))),
        );
      case 'rejection':
        this.#write(this.#upgrade(), frame(this.#messages.init()));
        this.#write(...this.#messages.rejection(WITNESSED).map((text) => frame(text)));
        return delay(random.between(200, LONGEST_MS));
      case 'unfinished':
        this.#write(this.#upgrade(), frame(this.#messages.init()));
        this.#write(unfinished(random));
        return delay(random.between(0, LONGEST_MS));
      case 'pipeline':
        if (random.chance(0.5)) this.#socket.pause();
        return this.#times(3, () =>
          this.#write(...Array.from({ length: random.between(1, 100) }, () => this.#httpRequest())),
        );
      case 'slow':
        this.#socket.pause();
        this.#write(this.#upgrade(), frame(this.#messages.init()));
        this.#write(
          ...Array.from({ length: 20 }, (_, id) =>
            frame(JSON.stringify({ type: 'subscribe', id: String(id), payload: { query: FLOOD } })),
          ),
        );
        await delay(random.between(200, LONGEST_MS));
    }
  }

  #write(...parts: readonly (Buffer | string)[]): void {
    if (!this.#socket.destroyed)
      this.#socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
  }

  /** Acts several times, at once or with pauses in which the server may reply. */
  async #times(most: number, act: () => void): Promise<void> {
    for (let left = this.#random.between(1, most); left > 0; left -= 1) {
      act();
      if (this.#random.chance(0.5)) await delay(this.#random.between(0, 30));
    }
  }

  #upgrade(isOdd = false): string {
    const random = this.#random;
    const headers: Record<string, string> = {
      Host: '127.0.0.1',
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Protocol': 'graphql-transport-ws',
    };
    if (isOdd) {
      const name = random.pick(Object.keys(headers));
      headers[name] = random.pick(['', 'x', 'h2c', '0', 'websocket, h2c', 'é', 'x'.repeat(9_000)]);
      if (random.chance(0.3)) delete headers[name];
      if (random.chance(0.2)) headers['Content-Length'] = '7';
    }
    const path =
      isOdd && random.chance(0.3) ? random.pick(['/', '/graphql/', '/..', '/%00', '*']) : '/graphql';
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return [`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  }

  #httpRequest(): string {
    const random = this.#random;
    const body = random.pick<() => string>([
      () => JSON.stringify(this.#documents.request()),
      () => JSON.stringify([this.#documents.request()]),
      () => this.#messages.odd(),
      () => 'x'.repeat(random.between(0, 100_000)),
      () => `{"query":"{ __typename }","variables":${nested(random.between(400, 15_000))}}`,
    ])();
    const head = [
      `${random.pick(['POST', 'POST', 'POST', 'GET', 'PUT', 'OPTIONS', 'BREW'])} ${random.pick(['/graphql', '/graphql', '/', '/events/bids', '/x'])} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Content-Type: ${random.pick(['application/json', 'application/json', 'text/plain', ''])}`,
      `Content-Length: ${Buffer.byteLength(body) + (random.chance(0.1) ? random.pick([-1, 1, 1e9]) : 0)}`,
      random.chance(0.05) ? 'Transfer-Encoding: chunked' : 'X-Y: z',
    ];
    return [...head, '', body].join('\r\n');
  }

  #leave(): void {
    const random = this.#random;
    if (random.chance(0.4)) this.#socket.resetAndDestroy();
    else if (random.chance(0.5)) this.#socket.end(frame(Buffer.from([0x03, 0xe8]), { opcode: 8 }));
    else this.#socket.destroySoon();
  }
}

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}
