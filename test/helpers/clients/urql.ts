import { Client, fetchExchange, subscriptionExchange, type Exchange, type ExecutionResult } from '@urql/core';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { ClientProgram, Connected } from './client-program.ts';

function connected(client: Client, close: () => unknown = () => undefined): Connected {
  return {
    subscribe(query, variables, listener) {
      const { unsubscribe } = client.subscription(query, { ...variables }).subscribe(({ data, error }) => {
        if (error?.networkError !== undefined) listener.error(error);
        else listener.next({ data: data as unknown, errors: error?.graphQLErrors });
      });
      return unsubscribe;
    },
    query: async (query) => (await client.query(query, {}).toPromise()).data as unknown,
    close,
  };
}

export const urqlPrograms: readonly ClientProgram[] = [
  {
    module: '@urql/core',
    transport: 'graphql-transport-ws',
    connect({ http, webSocket }, user) {
      const socket = createClient({
        url: webSocket,
        webSocketImpl: WebSocket,
        connectionParams: { user },
        shouldRetry: () => true,
        retryAttempts: Infinity,
        retryWait: () => Promise.resolve(),
      });
      const overSocket: Exchange = subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe(
              { query: query ?? '', variables },
              { ...sink, next: (result) => sink.next(result as ExecutionResult) },
            ),
          }),
        }),
      });
      const fetchOptions = { headers: { 'x-user': user } };
      const client = new Client({ url: http, fetchOptions, exchanges: [fetchExchange, overSocket] });
      return connected(client, () => socket.dispose());
    },
  },
  {
    module: '@urql/core',
    transport: 'server-sent events',
    staysAway: 'its fetchExchange ends the subscription; the page subscribes again',
    connect({ http: url }, user) {
      const fetchOptions = { headers: { 'x-user': user } };
      return connected(
        new Client({ url, fetchOptions, fetchSubscriptions: true, exchanges: [fetchExchange] }),
      );
    },
  },
];
