import { ApolloClient, gql, InMemoryCache } from '@apollo/client/core';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { resumable } from '../../src/client/client.ts';
import { testResumable, type Page } from './resumable.ts';

// Apollo's link asks for its constants, as browsers have them; Node.js has them since 22.
Object.assign(globalThis, { WebSocket });

testResumable('Apollo Client', (t, { url, onGap, socket }) => {
  const client = resumable(createClient({ url, webSocketImpl: WebSocket, ...socket }), { onGap });
  const apollo = new ApolloClient({ link: new GraphQLWsLink(client), cache: new InMemoryCache() });
  t.after(() => apollo.stop());

  function subscribe(document: string, page: Page): () => void {
    const subscription = apollo.subscribe({ query: gql(document) }).subscribe({
      next({ data, error, extensions }) {
        if (error) page.finish(error.message);
        else page.show(data, extensions);
      },
      complete: () => page.finish('complete'),
    });
    return () => subscription.unsubscribe();
  }

  async function query(document: string, page: Page): Promise<void> {
    const { data } = await apollo.query({ query: gql(document) });
    page.show(data, undefined);
    page.finish('complete');
  }

  return {
    run(document, page) {
      if (!document.startsWith('query')) return subscribe(document, page);
      query(document, page).catch((error: unknown) => page.finish(String(error)));
      return () => undefined;
    },
  };
});
