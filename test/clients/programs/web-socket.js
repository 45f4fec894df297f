import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { GATEWAY, TOKEN } from './obey.js';

/** What Apollo Client, urql and Relay are given for subscriptions. */
export const connection = () =>
  createClient({
    url: `ws://${GATEWAY}/graphql`,
    connectionParams: { token: TOKEN },
    webSocketImpl: WebSocket,
    shouldRetry: () => true,
  });
