import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { ApolloProvider, useSubscription } from '@apollo/client/react';
import { useMemo } from 'react';
import { GATEWAY, show, TOKEN, TRANSPORT } from './obey.jsx';
import { connection } from './web-socket.js';

const LINKS = {
  'graphql-transport-ws': () => new GraphQLWsLink(connection()),
  multipart: () =>
    new HttpLink({ uri: `http://${GATEWAY}/graphql`, headers: { authorization: `Bearer ${TOKEN}` } }),
};

const client = new ApolloClient({ link: LINKS[TRANSPORT](), cache: new InMemoryCache() });

function Subscription({ query, variables, sink }) {
  const document = useMemo(() => gql(query), [query]);
  const { data } = useSubscription(document, {
    variables,
    onData: ({ data: result }) => result.data && sink.next(result.data),
    onError: sink.error,
    onComplete: sink.complete,
  });
  return <li>{JSON.stringify(data)}</li>;
}

show(Subscription, ({ children }) => <ApolloProvider client={client}>{children}</ApolloProvider>);
