import { SubscriptionClient } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';
import type { ClientProgram } from './client-program.ts';

export const legacyPrograms: readonly ClientProgram[] = [
  {
    module: 'subscriptions-transport-ws',
    transport: 'graphql-ws (legacy)',
    connect({ webSocket: url }, user) {
      const options = { reconnect: true, connectionParams: { user }, minTimeout: 10_000 };
      const client = new SubscriptionClient(url, options, WebSocket);
      return {
        subscribe(query, variables, listener) {
          const { unsubscribe } = client.request({ query, variables: { ...variables } }).subscribe({
            next: (result) => listener.next(result),
            error: (error) => listener.error(error),
            complete: () => listener.complete(),
          });
          return unsubscribe;
        },
        query: (query) =>
          new Promise((resolve, reject) => {
            client.request({ query }).subscribe({ next: ({ data }) => resolve(data), error: reject });
          }),
        close: () => client.close(true),
      };
    },
  },
];
