import { GraphQLClient } from 'graphql-request';
import type { ClientProgram } from './client-program.ts';

export const graphqlRequestPrograms: readonly ClientProgram[] = [
  {
    module: 'graphql-request',
    transport: 'POST',
    connect({ http: url }, user) {
      const client = new GraphQLClient(url, { headers: { 'x-user': user } });
      return { query: (query) => client.request(query), close: () => undefined };
    },
  },
];
