import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import apollo3 from 'apollo-client-3/core/core.cjs';
import link3 from 'apollo-client-3/link/subscriptions/subscriptions.cjs';
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { ClientProgram, Connected, Listener, Urls } from './client-program.ts';

// Its link compares an error of the socket with the browser's own constants, which Node.js 20 does not have.
Object.assign(globalThis, { WebSocket });

const NO_CACHE = { fetchPolicy: 'no-cache' } as const;

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
  readonly error?: { readonly message: string } | undefined;
}

/** Both versions, as far as they agree. */
interface AnyClient {
  subscribe(options: object): { subscribe(observer: object): { unsubscribe(): void } };
  query(options: object): Promise<Result>;
  stop(): void;
}

function connected(client: AnyClient, close: () => unknown = () => undefined): Connected {
  return {
    subscribe(query, variables, listener: Listener) {
      const subscription = client
        .subscribe({ query: gql(query), variables, ...NO_CACHE, errorPolicy: 'all' })
        .subscribe({
          next({ data, errors, error }: Result) {
            listener.next({ data, errors: errors ?? (error && [error]) });
          },
          error: (error: unknown) => listener.error(error),
          complete: () => listener.complete(),
        });
      return () => subscription.unsubscribe();
    },
    query: async (query) => (await client.query({ query: gql(query), ...NO_CACHE })).data,
    close() {
      client.stop();
      return close();
    },
  };
}

const socketTo = ({ webSocket: url }: Urls, user: string): Client =>
  createClient({
    url,
    webSocketImpl: WebSocket,
    connectionParams: { user },
    shouldRetry: () => true,
    retryAttempts: Infinity,
    retryWait: () => Promise.resolve(),
  });

const httpOf = ({ http: uri }: Urls, user: string) => ({ uri, headers: { 'x-user': user } });

const NO_RETRY = 'its HttpLink ends the subscription with an error; the page subscribes again';

const apollo4 = (link: ApolloLink): AnyClient =>
  new ApolloClient({ link, cache: new InMemoryCache() }) as unknown as AnyClient;

const apolloThree = (link: InstanceType<typeof apollo3.ApolloLink>): AnyClient =>
  new apollo3.ApolloClient({ link, cache: new apollo3.InMemoryCache() }) as unknown as AnyClient;

export const apolloPrograms: readonly ClientProgram[] = [
  {
    module: '@apollo/client',
    transport: 'graphql-transport-ws',
    connect(urls, user) {
      const socket = socketTo(urls, user);
      return connected(apollo4(new GraphQLWsLink(socket)), () => socket.dispose());
    },
  },
  {
    module: '@apollo/client',
    transport: 'multipart',
    staysAway: NO_RETRY,
    connect: (urls, user) => connected(apollo4(new HttpLink(httpOf(urls, user)))),
  },
  {
    module: 'apollo-client-3',
    transport: 'graphql-transport-ws',
    connect(urls, user) {
      const socket = socketTo(urls, user);
      return connected(apolloThree(new link3.GraphQLWsLink(socket)), () => socket.dispose());
    },
  },
  {
    module: 'apollo-client-3',
    transport: 'multipart',
    staysAway: NO_RETRY,
    connect: (urls, user) => connected(apolloThree(new apollo3.HttpLink(httpOf(urls, user)))),
  },
];
