import { Client, subscriptionExchange, type ExecutionResult } from '@urql/core';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { resumable } from '../../src/client/client.ts';
import { testResumable } from './resumable.ts';

testResumable('urql', (_t, { url, onGap, socket }) => {
  const client = resumable(createClient({ url, webSocketImpl: WebSocket, ...socket }), { onGap });
  const urql = new Client({
    url: 'http://localhost/not-used',
    preferGetMethod: false,
    exchanges: [
      subscriptionExchange({
        enableAllOperations: true,
        forwardSubscription: (operation) => ({
          subscribe: (sink) => ({
            unsubscribe: client.subscribe(
              { ...operation, query: operation.query ?? '' },
              // Both describe the same JSON, which exactOptionalPropertyTypes can't see.
              { ...sink, next: (result) => sink.next(result as ExecutionResult) },
            ),
          }),
        }),
      }),
    ],
  });
  return {
    run(document, page) {
      const source = document.startsWith('query')
        ? urql.query(document, {})
        : urql.subscription(document, {});
      const { unsubscribe } = source.subscribe(({ data, error, extensions, hasNext }) => {
        if (error) return page.finish(error.message);
        page.show(data, extensions);
        if (!hasNext) page.finish('complete');
      });
      return unsubscribe;
    },
  };
});
