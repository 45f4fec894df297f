import { createClient } from 'graphql-ws';
import { createClient as createClient5 } from 'graphql-ws-5';
import { WebSocket } from 'ws';
import type { ClientProgram, Connected, Urls } from './client-program.ts';

type CreateClient = typeof createClient;

const connect =
  (create: CreateClient) =>
  ({ webSocket: url }: Urls, user: string): Connected => {
    const client = create({
      url,
      webSocketImpl: WebSocket,
      connectionParams: { user },
      shouldRetry: () => true,
      retryAttempts: Infinity,
      retryWait: () => Promise.resolve(),
    });
    return {
      subscribe: (query, variables, listener) => client.subscribe({ query, variables }, listener),
      async query(query) {
        for await (const { data } of client.iterate({ query })) return data;
        return undefined;
      },
      close: () => client.dispose(),
    };
  };

const transport = 'graphql-transport-ws';

export const graphqlWsPrograms: readonly ClientProgram[] = [
  { module: 'graphql-ws', transport, connect: connect(createClient) },
  { module: 'graphql-ws-5', transport, connect: connect(createClient5 as CreateClient) },
];
