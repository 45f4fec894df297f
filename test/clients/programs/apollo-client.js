import { createRequire } from 'node:module';
import { SubscriptionClient } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';
import { GATEWAY, obey, TOKEN, TRANSPORT } from './obey.js';
import { connection } from './web-socket.js';

// GraphQLWsLink asks for it to tell errors; Node.js has it from version 22 on.
globalThis.WebSocket ??= WebSocket;

// Version 3 has no entries for import in Node.js.
const require = createRequire(import.meta.url);
const isThree = process.argv[2] === '3';
const { ApolloClient, InMemoryCache, HttpLink, gql } = isThree
  ? require('apollo-client-3/core')
  : require('@apollo/client');
const { GraphQLWsLink } = isThree
  ? require('apollo-client-3/link/subscriptions')
  : require('@apollo/client/link/subscriptions');
const { WebSocketLink } = isThree ? require('apollo-client-3/link/ws') : {};

const LINKS = {
  'graphql-transport-ws': () => new GraphQLWsLink(connection()),
  multipart: () =>
    new HttpLink({ uri: `http://${GATEWAY}/graphql`, headers: { authorization: `Bearer ${TOKEN}` } }),
  'graphql-ws (legacy)': () => {
    const options = { reconnect: true, connectionParams: { token: TOKEN } };
    return new WebSocketLink(new SubscriptionClient(`ws://${GATEWAY}/graphql`, options, WebSocket));
  },
};

const client = new ApolloClient({ link: LINKS[TRANSPORT](), cache: new InMemoryCache() });

obey(({ query, variables }, sink) => {
  const subscription = client.subscribe({ query: gql(query), variables }).subscribe({
    ...sink,
    next: ({ data, error, errors }) => ((error ?? errors) ? sink.error(error ?? errors) : sink.next(data)),
  });
  return () => subscription.unsubscribe();
});
