import { createRequire } from 'node:module';
import { Client, fetchExchange } from '@urql/core';
import { GraphQLClient } from 'graphql-request';
import { GATEWAY, obey, TOKEN } from './obey.js';

const [library, method] = process.argv.slice(2);
const url = `http://${GATEWAY}/graphql`;
const headers = { authorization: `Bearer ${TOKEN}` };
const isGet = method === 'GET';
const require = createRequire(import.meta.url);

function apolloClient({ ApolloClient, gql, HttpLink, InMemoryCache }) {
  const link = new HttpLink({ uri: url, headers, useGETForQueries: isGet });
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  return async ({ query, variables }) => (await client.query({ query: gql(query), variables })).data;
}

const LIBRARIES = {
  'graphql-request': () => {
    const client = new GraphQLClient(url, { headers, method });
    return ({ query, variables }) => client.request(query, variables);
  },
  'apollo-client-4': () => apolloClient(require('@apollo/client')),
  'apollo-client-3': () => apolloClient(require('apollo-client-3/core')),
  urql: () => {
    const options = { exchanges: [fetchExchange], fetchOptions: { headers } };
    const client = new Client({ url, preferGetMethod: isGet ? 'force' : false, ...options });
    return async ({ query, variables }) => {
      const { data, error } = await client.query(query, variables);
      if (error !== undefined) throw error;
      return data;
    };
  },
};

const ask = LIBRARIES[library]();

obey((operation, sink) => {
  ask(operation).then(sink.next, sink.error);
  return () => {};
});
