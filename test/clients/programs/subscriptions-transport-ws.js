import { SubscriptionClient } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';
import { GATEWAY, obey, TOKEN } from './obey.js';

const options = { reconnect: true, connectionParams: { token: TOKEN } };
const client = new SubscriptionClient(`ws://${GATEWAY}/graphql`, options, WebSocket);

obey((operation, sink) => {
  const { unsubscribe } = client
    .request(operation)
    .subscribe({ ...sink, next: ({ data, errors }) => (errors ? sink.error(errors) : sink.next(data)) });
  return unsubscribe;
});
