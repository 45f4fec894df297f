import { once, EventEmitter } from 'node:events';
import type { TestContext } from 'node:test';
import type { ExecutionResult } from 'graphql';
import { createClient, type Client, type ClientOptions } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { GatewayProcess } from './gateway.ts';

/** A graphql-ws client like an application's, disposed of when the test ends. */
export function graphqlClient(t: TestContext, url: string, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0, lazy: true, ...options });
  // If the server has already stopped, the client may be reconnecting, and disposal fails with that connection.
  t.after(() => Promise.resolve(client.dispose()).catch(() => undefined));
  return client;
}

/** One subscription, with all its results. */
export class Received<Data = Record<string, unknown>> {
  readonly results: ExecutionResult<Data>[] = [];
  /** The end of the subscription: undefined while it runs, 'complete', or the error. */
  end: unknown;
  readonly stop: () => void;
  readonly #changes = new EventEmitter();

  constructor(
    client: Client,
    query: string,
    variables: Record<string, unknown> = {},
    extensions?: Record<string, unknown>,
  ) {
    this.stop = client.subscribe<Data>(
      { query, variables, extensions },
      {
        next: (result) => {
          this.results.push(result as ExecutionResult<Data>);
          this.#changes.emit('change');
        },
        error: (error) => this.#finish(error),
        complete: () => this.#finish('complete'),
      },
    );
  }

  get data(): (Data | null | undefined)[] {
    return this.results.map(({ data }) => data);
  }

  /** Waits until there are `count` results. Only the runner's timeout limits the wait. */
  async until(count: number): Promise<this> {
    while (this.results.length < count) {
      if (this.end !== undefined)
        throw new Error(`ended after ${this.results.length} results`, { cause: this.end });
      await once(this.#changes, 'change');
    }
    return this;
  }

  async untilEnd(): Promise<unknown> {
    while (this.end === undefined) await once(this.#changes, 'change');
    return this.end;
  }

  /** Waits until the gateway has closed the connection. @returns the code, and the reason */
  async untilClosed(): Promise<string> {
    const { code, reason } = (await this.untilEnd()) as { code: number; reason: string };
    return `${code} ${reason}`;
  }

  #finish(end: unknown): void {
    this.end = end;
    this.#changes.emit('change');
  }
}

export interface ItemData {
  readonly item: { readonly id: string; readonly n: number };
}

interface Asked {
  readonly query?: string;
  readonly variables?: Record<string, unknown>;
  readonly extensions?: Record<string, unknown>;
}

/** A subscription, by default to all events of a graph of `itemSchema`. Resolves when the gateway has it. */
export async function subscribed<Data = ItemData>(
  t: TestContext,
  gateway: GatewayProcess,
  { query = 'subscription { item { n } }', variables, extensions }: Asked = {},
): Promise<Received<Data>> {
  const before = await gateway.metric('sluice_subscribers');
  const client = graphqlClient(t, gateway.graphqlUrl);
  const received = new Received<Data>(client, query, variables, extensions);
  await gateway.untilMetric('sluice_subscribers', before + 1);
  return received;
}

/** Returns the numbers of the subscription's events, in their order. */
export const numbersOf = ({ data }: Received<ItemData>): number[] => data.map((one) => one?.item.n ?? NaN);
