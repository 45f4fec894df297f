import { createClient } from 'graphql-ws';
import { createClient as createClient5 } from 'graphql-ws-5';
import { WebSocket } from 'ws';
import { resumable } from '../../src/client/client.ts';
import { testResumable, type Page } from './resumable.ts';

interface Result {
  readonly data?: unknown;
  readonly extensions?: unknown;
}

/** What both versions have. */
interface Client {
  subscribe(
    payload: { query: string },
    sink: { next(result: Result): void; error(error: unknown): void; complete(): void },
  ): () => void;
  iterate(payload: { query: string }): AsyncIterableIterator<Result>;
}

const withSubscribe = (client: Client) => ({
  run: (query: string, page: Page) =>
    client.subscribe(
      { query },
      {
        next: ({ data, extensions }) => page.show(data, extensions),
        error: (error) => page.finish(JSON.stringify(error)),
        complete: () => page.finish('complete'),
      },
    ),
});

const withIterate = (client: Client) => ({
  run: (query: string, page: Page) => {
    const results = client.iterate({ query });
    void (async () => {
      for await (const { data, extensions } of results) page.show(data, extensions);
    })().then(
      () => page.finish('complete'),
      (error: unknown) => page.finish(JSON.stringify(error)),
    );
    return () => void results.return?.();
  },
});

for (const [way, library] of Object.entries({ subscribe: withSubscribe, iterate: withIterate })) {
  testResumable(`graphql-ws 6, ${way}`, (_t, { url, onGap, socket }) =>
    library(resumable(createClient({ url, webSocketImpl: WebSocket, ...socket }), { onGap })),
  );
  testResumable(`graphql-ws 5, ${way}`, (_t, { url, onGap, socket }) =>
    library(resumable(createClient5({ url, webSocketImpl: WebSocket, ...socket }), { onGap })),
  );
}
