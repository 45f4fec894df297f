import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { Changes } from './changes.ts';
import type { GatewayProcess } from './gateway.ts';
import { exchange, type Exchange } from './http-exchange.ts';
import type { Scope } from './scope.ts';

export interface Payload {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The request of a client. */
export interface Asked {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** The user as which the client connects. */
  readonly user?: string;
  /** Headers of the request, on a transport of HTTP requests. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The end of an operation: the server completed it, refused the client, or closed the connection. */
export interface Ending {
  readonly how: 'completed' | 'refused' | 'closed';
  /** The code of the close frame, the HTTP status, or the code of the last error. */
  readonly code?: number | string | undefined;
}

/** One operation, on a connection of its own. */
export abstract class Asking {
  readonly payloads: Payload[] = [];
  ending: Ending | undefined;
  /** Whether the server has admitted the client. */
  isOpen = false;
  heartbeats = 0;
  readonly #changes = new Changes();

  /** Ends the operation in order. */
  abstract stop(): void;
  /** Breaks the connection. */
  abstract destroy(): void;
  /** Reads no more until `resume`. */
  abstract pause(): void;
  abstract resume(): void;

  async until(holds: (asking: this) => boolean): Promise<this> {
    return this.#changes.until(
      () => (holds(this) ? this : undefined),
      () => {
        const last = JSON.stringify(this.payloads.slice(-3));
        return `${this.payloads.length} payloads, ${JSON.stringify(this.ending)}: ${last}`;
      },
    );
  }

  async untilPayloads(count: number): Promise<readonly Payload[]> {
    await this.until(({ payloads, ending }) => payloads.length >= count || ending !== undefined);
    return this.payloads;
  }

  async untilEnded(): Promise<Ending> {
    await this.until(({ ending }) => ending !== undefined);
    return this.ending as Ending;
  }

  protected open(): void {
    this.isOpen = true;
    this.changed();
  }

  protected beat(): void {
    this.heartbeats += 1;
    this.changed();
  }

  protected take(payload: Payload): void {
    this.payloads.push(payload);
    this.changed();
  }

  protected finish(ending: Ending): void {
    this.ending ??= ending;
    this.changed();
  }

  protected changed(): void {
    this.#changes.emit();
  }
}

/** The client of one transport. */
export interface TransportClient {
  readonly name: string;
  ask(scope: Scope, gateway: GatewayProcess, asked: Asked): Asking;
}

interface Words {
  readonly protocol: string;
  readonly begin: string;
  readonly end: string;
  readonly result: string;
}

class WebSocketAsking extends Asking {
  readonly #socket: WebSocket;
  readonly #words: Words;

  constructor({ graphqlUrl }: GatewayProcess, { user, ...payload }: Asked, words: Words) {
    super();
    this.#words = words;
    this.#socket = new WebSocket(graphqlUrl, words.protocol, { rejectUnauthorized: false });
    this.#socket.on('open', () => {
      this.#send({ type: 'connection_init', payload: { user } });
      // Clients of the legacy subprotocol do not wait for the acknowledgement.
      if (words.begin === 'start') this.#send({ type: 'start', id: 'ä1', payload });
    });
    this.#socket.on('message', (data: Buffer) => {
      const { type, payload: came } = JSON.parse(data.toString()) as { type: string; payload?: unknown };
      if (type === 'connection_ack') this.open();
      if (type === 'connection_ack' && words.begin === 'subscribe')
        this.#send({ type: 'subscribe', id: 'ä1', payload });
      if (type === words.result) this.take(came as Payload);
      if (type === 'ka') this.beat();
      if (type === 'complete') this.finish({ how: 'completed' });
      if (type === 'connection_error') this.finish({ how: 'refused' });
      if (type === 'error') {
        const errors = Array.isArray(came) ? came : (came as Required<Payload>).errors;
        this.take({ errors });
        this.finish({ how: 'completed' });
      }
    });
    this.#socket.on('ping', () => this.beat());
    this.#socket.on('error', () => undefined);
    this.#socket.on('unexpected-response', (_request, { statusCode }: IncomingMessage) =>
      this.finish({ how: 'refused', code: statusCode }),
    );
    this.#socket.on('close', (code) =>
      this.finish(code === 4403 ? { how: 'refused' } : { how: 'closed', code }),
    );
  }

  stop(): void {
    this.#send({ type: this.#words.end, id: 'ä1' });
  }

  destroy(): void {
    this.#socket.terminate();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}

/** Reads a response body while it comes. */
abstract class ResponseAsking extends Asking {
  protected text = '';
  readonly #exchange: Exchange;

  constructor(gateway: GatewayProcess, { user, headers: more, ...asked }: Asked, accept: string) {
    super();
    const headers = {
      accept,
      'content-type': 'application/json',
      ...(user !== undefined && { 'x-user': user }),
      ...more,
    };
    this.#exchange = exchange(gateway, headers, JSON.stringify(asked), {
      head: (code) => {
        if (code === 200) this.open();
        else this.finish({ how: 'refused', code });
      },
      data: (text) => {
        this.text += text;
        this.read();
      },
      closed: () => this.finish({ how: 'closed', code: this.#lastCode }),
    });
  }

  stop(): void {
    this.#exchange.cancel();
  }

  destroy(): void {
    this.#exchange.destroy();
  }

  pause(): void {
    this.#exchange.pause();
  }

  resume(): void {
    this.#exchange.resume();
  }

  get #lastCode(): string | undefined {
    return this.payloads.at(-1)?.errors?.[0]?.extensions?.code;
  }

  /** Takes complete messages from `text`. */
  protected abstract read(): void;
}

class EventStreamAsking extends ResponseAsking {
  readonly ids: string[] = [];

  protected read(): void {
    for (let end = this.text.indexOf('\n\n'); end !== -1; end = this.text.indexOf('\n\n')) {
      const lines = this.text.slice(0, end).split('\n');
      this.text = this.text.slice(end + 2);
      const field = (name: string): string | undefined =>
        lines
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim();
      const event = field('event');
      const id = field('id');
      if (id !== undefined) this.ids.push(id);
      if (event === undefined) this.beat();
      if (event === 'next') this.take(JSON.parse(field('data') ?? '') as Payload);
      if (event === 'complete') this.finish({ how: 'completed' });
    }
  }
}

const DELIMITER = '\r\n--graphql';

class MultipartAsking extends ResponseAsking {
  #hasBegun = false;

  protected read(): void {
    for (let end = this.text.indexOf(DELIMITER); end !== -1; end = this.text.indexOf(DELIMITER)) {
      const part = this.text.slice(0, end);
      this.text = this.text.slice(end + DELIMITER.length);
      if (this.#hasBegun) this.#take(part);
      this.#hasBegun = true;
    }
    if (this.#hasBegun && this.text.startsWith('--')) this.finish(this.#ending);
  }

  get #ending(): Ending {
    const code = this.payloads.at(-1)?.errors?.[0]?.extensions?.code;
    return this.#isFatal ? { how: 'closed', code } : { how: 'completed' };
  }

  #isFatal = false;

  #take(part: string): void {
    const [head = '', body = ''] = part.split('\r\n\r\n');
    if (!head.toLowerCase().includes('content-type: application/json')) throw new Error(`no part: ${part}`);
    const { payload, errors } = JSON.parse(body) as { payload?: Payload | null; errors?: Payload['errors'] };
    if (payload === undefined && errors === undefined) this.beat();
    else if (payload != null) this.take(payload);
    else {
      this.#isFatal = true;
      this.take({ errors: errors ?? [] });
    }
  }
}

const WORDS: Words = {
  protocol: 'graphql-transport-ws',
  begin: 'subscribe',
  end: 'complete',
  result: 'next',
};
const LEGACY_WORDS: Words = { protocol: 'graphql-ws', begin: 'start', end: 'stop', result: 'data' };

function client<T extends Asking>(
  name: string,
  ask: (gateway: GatewayProcess, asked: Asked) => T,
): TransportClient {
  return {
    name,
    ask: (scope, gateway, asked) => {
      const asking = ask(gateway, asked);
      scope.after(() => asking.destroy());
      return asking;
    },
  };
}

/** All transports of subscriptions, each with a client that hides no part of the protocol. */
export const TRANSPORT_CLIENTS = {
  webSocket: client('graphql-transport-ws', (gateway, asked) => new WebSocketAsking(gateway, asked, WORDS)),
  legacy: client(
    'graphql-ws (legacy)',
    (gateway, asked) => new WebSocketAsking(gateway, asked, LEGACY_WORDS),
  ),
  eventStream: client(
    'server-sent events',
    (gateway, asked) => new EventStreamAsking(gateway, asked, 'text/event-stream'),
  ),
  multipart: client(
    'multipart',
    (gateway, asked) => new MultipartAsking(gateway, asked, 'multipart/mixed;subscriptionSpec=1.0'),
  ),
} as const satisfies Record<string, TransportClient>;
