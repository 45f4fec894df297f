import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import multipart from 'apollo-client-3/utilities/subscriptions/urql/urql.cjs';
import { GATEWAY, obey, TOKEN, TRANSPORT } from './obey.js';
import { connection } from './web-socket.js';

const url = `http://${GATEWAY}/graphql`;
const headers = { authorization: `Bearer ${TOKEN}` };

const OPTIONS = {
  'graphql-transport-ws': () => {
    const webSocket = connection();
    const forwardSubscription = (operation) => ({
      subscribe: (sink) => ({ unsubscribe: webSocket.subscribe(operation, sink) }),
    });
    return { exchanges: [subscriptionExchange({ forwardSubscription })] };
  },
  'server-sent events': () => ({
    exchanges: [fetchExchange],
    fetchSubscriptions: true,
    fetchOptions: { headers },
  }),
  multipart: () => {
    const forwardSubscription = multipart.createFetchMultipartSubscription(url, { headers });
    return { exchanges: [subscriptionExchange({ forwardSubscription })] };
  },
};

const client = new Client({ url, preferGetMethod: false, ...OPTIONS[TRANSPORT]() });

obey(({ query, variables }, sink) => {
  const { unsubscribe } = client.subscription(query, variables).subscribe(({ data, error, hasNext }) => {
    if (error !== undefined) sink.error(error);
    else if (hasNext) sink.next(data);
    else sink.complete();
  });
  return unsubscribe;
});
