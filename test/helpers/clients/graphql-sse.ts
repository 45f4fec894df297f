import { createClient } from 'graphql-sse';
import type { ClientProgram } from './client-program.ts';

export const graphqlSsePrograms: readonly ClientProgram[] = [
  {
    module: 'graphql-sse',
    transport: 'server-sent events',
    connect({ http: url }, user) {
      const client = createClient({
        url,
        headers: { 'x-user': user },
        retryAttempts: Infinity,
        retry: () => Promise.resolve(),
      });
      return {
        subscribe: (query, variables, listener) =>
          client.subscribe(
            { query, variables: { ...variables } },
            {
              next: (result) => listener.next(result),
              error: (error) => listener.error(error),
              complete: () => listener.complete(),
            },
          ),
        async query(query) {
          for await (const { data } of client.iterate({ query })) return data;
          return undefined;
        },
        close: () => client.dispose(),
      };
    },
  },
];
