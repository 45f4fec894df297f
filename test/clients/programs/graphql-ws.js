import { WebSocket } from 'ws';
import { GATEWAY, obey, TOKEN } from './obey.js';

const { createClient } = process.argv[2] === '5' ? await import('graphql-ws-5') : await import('graphql-ws');

const client = createClient({
  url: `ws://${GATEWAY}/graphql`,
  connectionParams: { token: TOKEN },
  webSocketImpl: WebSocket,
});

obey((operation, sink) => client.subscribe(operation, { ...sink, next: ({ data }) => sink.next(data) }));
