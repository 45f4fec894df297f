import { EventEmitter, on, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { eventually } from '../../helpers/eventually.ts';
import { startGateway } from '../../helpers/gateway.ts';
import { graphFolder } from '../../helpers/graph-folder.ts';
import type { Scope } from '../../helpers/scope.ts';

/** One of the servers that the cases are run against. */
export interface Server {
  readonly url: string;
  /** Brings an event to the field `item`, once so many subscriptions listen to it. */
  emit(n: number, listeners: number): Promise<void>;
  /** Resolves when so many subscriptions listen. */
  untilListeners(count: number): Promise<void>;
}

/** The timeout of both: longer than a handshake on a busy machine, since only those cases wait for it that are about it. */
const INIT_TIMEOUT_MS = 10_000;
export const MAX_PAYLOAD_BYTES = 100_000;

/** How long `slow` takes, and a connection that asks for it. */
const SLOW_MS = 200;

const SCHEMA = `
  type Query { hello(name: String = "you"): String! slow: String fails: String }
  type Mutation { add(n: Int!): Int }
  type Subscription { item: Item DIRECTIVE }
  type Item { n: Int text: String fails: String }
`;

/** What a case asks of the server by connection parameters. */
interface Asked {
  readonly refuse?: boolean;
  readonly fail?: boolean;
  readonly slow?: boolean | 'beyond the timeout';
}

const GRAPH = `
  import { setTimeout as delay } from 'node:timers/promises';
  import { defineGraph } from 'sluice';
  const fails = () => { throw new Error('a fault of the resolver'); };
  export default defineGraph({
    authenticate: async ({ refuse, fail, slow }) => {
      if (slow) await delay(slow === true ? ${SLOW_MS} : ${INIT_TIMEOUT_MS + SLOW_MS});
      if (fail) throw new Error('a fault of authenticate');
      return refuse ? null : {};
    },
    resolvers: {
      Query: { hello: (_root, { name }) => 'hello ' + name, slow: () => delay(${SLOW_MS}, 'slow'), fails },
      Mutation: { add: (_root, { n }) => n + 1 },
      Item: { fails },
    },
  });
`;

export async function startSluice(scope: Scope): Promise<Server> {
  const schema = SCHEMA.replace('DIRECTIVE', '@event(topic: "items")');
  const gateway = await startGateway(scope, {
    GRAPH: await graphFolder(scope, { 'schema.graphql': schema, 'graph.js': GRAPH }),
    INIT_TIMEOUT_MS: String(INIT_TIMEOUT_MS),
    // Of graphql-ws there is none.
    EXECUTE_TIMEOUT_MS: '600000',
    MAX_PAYLOAD_BYTES: String(MAX_PAYLOAD_BYTES),
  });
  const untilListeners = (count: number): Promise<void> => gateway.untilMetric('sluice_subscribers', count);
  return {
    url: gateway.graphqlUrl,
    untilListeners,
    async emit(n, listeners) {
      await untilListeners(listeners);
      await gateway.postEvent('items', { n, text: 'Grüße' });
    },
  };
}

const fails = (): never => {
  throw new Error('a fault of the resolver');
};

/** The server of graphql-ws over ws, with a schema and hooks that do the same. */
export async function startGraphqlWs(scope: Scope): Promise<Server> {
  const events = new EventEmitter();
  // A generator that waits would end only after its next event.
  const item = (): AsyncIterableIterator<object> => {
    const source = on(events, 'item');
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        const { value, done } = (await source.next()) as IteratorResult<[number], undefined>;
        if (done === true) return { value: undefined, done };
        return { value: { item: { n: value[0], text: 'Grüße', fails } } };
      },
      async return() {
        await source.return?.();
        return { value: undefined, done: true };
      },
    };
  };
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    maxPayload: MAX_PAYLOAD_BYTES,
  });
  const handle = useServer(
    {
      schema: buildSchema(SCHEMA.replace('DIRECTIVE', '')),
      connectionInitWaitTimeout: INIT_TIMEOUT_MS,
      onConnect: async ({ connectionParams }) => {
        const { refuse, fail, slow } = (connectionParams ?? {}) as Asked;
        if (slow !== undefined) await delay(slow === true ? SLOW_MS : INIT_TIMEOUT_MS + SLOW_MS);
        if (fail === true) throw new Error('a fault of authenticate');
        return refuse !== true;
      },
      roots: {
        query: {
          hello: ({ name }: { name: string }) => `hello ${name}`,
          slow: () => delay(SLOW_MS, 'slow'),
          fails,
        },
        mutation: { add: ({ n }: { n: number }) => n + 1 },
        subscription: { item },
      },
    },
    server,
  );
  await once(server, 'listening');
  scope.after(() => handle.dispose());
  const untilListeners = (count: number): Promise<void> =>
    eventually(() => {
      const listeners = events.listenerCount('item');
      if (listeners !== count) throw new Error(`expected ${count} listeners, got ${listeners}`);
    });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    untilListeners,
    async emit(n, listeners) {
      await untilListeners(listeners);
      events.emit('item', n);
    },
  };
}
