import { createClient } from 'graphql-ws';
import { GATEWAY, TOKEN } from './obey.jsx';

/** What Apollo Client and urql are given for subscriptions. */
export const connection = () =>
  createClient({
    url: `ws://${GATEWAY}/graphql`,
    connectionParams: { token: TOKEN },
    shouldRetry: () => true,
  });
