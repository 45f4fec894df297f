import type { TestContext } from 'node:test';
import { Changes } from './changes.ts';
import { connectAndInit, type RawSocket } from './raw-socket.ts';

interface Result {
  readonly errors?: unknown;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly extensions?: {
    readonly cursor?: string;
    readonly recovered?: boolean;
    readonly gap?: object;
  };
}

/** Connects, is acknowledged, and subscribes. @param resume is sent as `extensions.resume` */
export async function subscribeWith(
  t: TestContext,
  url: string,
  payload: { query: string; variables?: Record<string, unknown>; resume: unknown },
  connectionParams: object = {},
): Promise<RawSocket> {
  const { query, variables, resume } = payload;
  const socket = await connectAndInit(t, url, connectionParams);
  socket.subscribe('1', query, variables, { resume });
  return socket;
}

/** One subscription over any number of sockets, each of which resumes where the one before has ended. */
export class ResumingClient {
  readonly query: string;
  readonly variables: Record<string, unknown>;
  cursor: string | null = null;
  /** `recovered` of each greeting. */
  readonly greetings: boolean[] = [];
  /** All results, in the order in which they came. */
  readonly results: Result[] = [];
  gaps = 0;
  socket: RawSocket | undefined;
  readonly #t: TestContext;
  readonly #changes = new Changes();

  constructor(t: TestContext, query: string, variables: Record<string, unknown> = {}) {
    this.#t = t;
    this.query = query;
    this.variables = variables;
  }

  /** Returns the values of one field of the results. */
  values(name: string): unknown[] {
    return this.results.map(({ data }) => {
      const [event] = Object.values(data ?? {});
      return (event as Readonly<Record<string, unknown>> | null)?.[name];
    });
  }

  /** Waits until the results fulfil the condition. */
  async until(holds: (results: readonly Result[]) => boolean): Promise<void> {
    const last = () => JSON.stringify(this.results.at(-1) ?? null);
    await this.#changes.until(
      () => holds(this.results) || undefined,
      () => `not so with ${this.results.length} results, of which the last is ${last()}`,
    );
  }

  /** Resolves when the subscription has been greeted. @throws if the socket is closed before */
  async connect(url: string, connectionParams: object = {}): Promise<void> {
    const { query, variables, cursor } = this;
    const socket = await subscribeWith(this.#t, url, { query, variables, resume: cursor }, connectionParams);
    this.socket = socket;
    for (const { type, payload } of socket.messages) if (type === 'next') this.#take(payload as Result);
    socket.webSocket.on('message', (data: Buffer) => {
      const { type, payload } = JSON.parse(data.toString()) as { type: string; payload: Result };
      if (type === 'next') this.#take(payload);
    });
    await socket.until(({ payload }) => (payload as Result | undefined)?.extensions?.recovered !== undefined);
  }

  /** Breaks the connection. Messages on their way are lost, as in a network that fails. */
  cut(): void {
    this.socket?.webSocket.removeAllListeners('message');
    this.socket?.webSocket.terminate();
  }

  #take(result: Result): void {
    const { data, errors, extensions = {} } = result;
    if (extensions.cursor !== undefined) this.cursor = extensions.cursor;
    if (extensions.recovered !== undefined) this.greetings.push(extensions.recovered);
    else if (extensions.gap !== undefined) this.gaps += 1;
    else if (data !== null || errors !== undefined) this.results.push(result);
    this.#changes.emit();
  }
}
