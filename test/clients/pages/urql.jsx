import { useEffect } from 'react';
import { Client, fetchExchange, Provider, subscriptionExchange, useSubscription } from 'urql';
import { GATEWAY, show, TOKEN, TRANSPORT } from './obey.jsx';
import { connection } from './web-socket.js';

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
    fetchOptions: { headers: { authorization: `Bearer ${TOKEN}` } },
  }),
};

const client = new Client({
  url: `http://${GATEWAY}/graphql`,
  preferGetMethod: false,
  ...OPTIONS[TRANSPORT](),
});

function Subscription({ query, variables, sink }) {
  // React leaves out states that another follows at once; the handler is called with each result.
  const [{ error }] = useSubscription({ query, variables }, (_before, data) => {
    sink.next(data);
    return data;
  });
  useEffect(() => {
    if (error !== undefined) sink.error(error);
  }, [error, sink]);
  return <li />;
}

show(Subscription, ({ children }) => <Provider value={client}>{children}</Provider>);
