import { createFetchMultipartSubscription } from '@apollo/client/utilities/subscriptions/relay';
import relay from 'relay-runtime';
import { GATEWAY, obey, TOKEN, TRANSPORT } from './obey.js';
import { requestOf } from './relay-request.js';
import { connection } from './web-socket.js';

const { Environment, Network, Observable, RecordSource, requestSubscription, Store } = relay;

const FUNCTIONS = {
  'graphql-transport-ws': () => {
    const webSocket = connection();
    return ({ text }, variables) =>
      Observable.create((sink) => webSocket.subscribe({ query: text, variables }, sink));
  },
  multipart: () =>
    createFetchMultipartSubscription(`http://${GATEWAY}/graphql`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    }),
};

const noQueries = () => {
  throw new Error('expected subscriptions only');
};

const environment = new Environment({
  network: Network.create(noQueries, FUNCTIONS[TRANSPORT]()),
  store: new Store(new RecordSource()),
});

obey(({ query, variables }, sink) => {
  const { dispose } = requestSubscription(environment, {
    subscription: requestOf(query),
    variables,
    onNext: sink.next,
    onError: sink.error,
    onCompleted: sink.complete,
  });
  return dispose;
});
