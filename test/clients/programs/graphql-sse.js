import { createClient } from 'graphql-sse';
import { GATEWAY, obey, TOKEN } from './obey.js';

const client = createClient({
  url: `http://${GATEWAY}/graphql`,
  headers: { authorization: `Bearer ${TOKEN}` },
});

obey((operation, sink) =>
  client.subscribe(operation, {
    ...sink,
    next: ({ data, errors }) => (errors === undefined ? sink.next(data) : sink.error(errors)),
  }),
);
