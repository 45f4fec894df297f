import { createClient } from 'graphql-ws';
import {
  Environment,
  Network,
  Observable,
  RecordSource,
  Store,
  type GraphQLResponse,
  type RequestParameters,
} from 'relay-runtime';
import { WebSocket } from 'ws';
import type { ClientProgram } from './client-program.ts';

/** What relay-compiler makes of a document; the test's are not known to it. */
const parameters = (text: string, operationKind: 'query' | 'subscription'): RequestParameters => ({
  id: null,
  cacheID: text,
  text,
  name: 'Program',
  operationKind,
  metadata: {},
});

export const relayPrograms: readonly ClientProgram[] = [
  {
    module: 'relay-runtime',
    transport: 'graphql-transport-ws',
    connect({ webSocket: url }, user) {
      const socket = createClient({
        url,
        webSocketImpl: WebSocket,
        connectionParams: { user },
        shouldRetry: () => true,
        retryAttempts: Infinity,
        retryWait: () => Promise.resolve(),
      });
      const overSocket = ({ text }: RequestParameters, variables: Record<string, unknown>) =>
        Observable.create<GraphQLResponse>((sink) =>
          socket.subscribe(
            { query: text ?? '', variables },
            { ...sink, next: (result) => sink.next(result as GraphQLResponse) },
          ),
        );
      const network = Network.create(overSocket, overSocket);
      const environment = new Environment({ network, store: new Store(new RecordSource()) });
      const run = (
        text: string,
        kind: 'query' | 'subscription',
        variables: Readonly<Record<string, unknown>>,
      ) => environment.getNetwork().execute(parameters(text, kind), { ...variables }, {});
      return {
        subscribe(query, variables, listener) {
          const subscription = run(query, 'subscription', variables).subscribe({
            next: (result) => listener.next(result as { data?: unknown }),
            error: (error: unknown) => listener.error(error),
            complete: () => listener.complete(),
          });
          return () => subscription.unsubscribe();
        },
        query: async (query) => ((await run(query, 'query', {}).toPromise()) as { data?: unknown }).data,
        close: () => socket.dispose(),
      };
    },
  },
];
