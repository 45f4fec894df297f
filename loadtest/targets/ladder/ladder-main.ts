/** One step of the ladder as a server; its argument is the step's name. The rest of the server is as in `stock`. */
import type { GraphQLError, GraphQLSchema } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import type { Extra } from 'graphql-ws/use/ws';
import { listenWith } from '../stock/graphql-ws-server.ts';
import { serve } from '../stock/readme-server.ts';
import { property } from './sample-property.ts';
import { STEPS, type Parts } from './ladder-steps.ts';
import { Subscription } from './subscription.ts';

const [name] = process.argv.slice(2);
const step = STEPS.find((known) => known.name === name);
if (step === undefined) {
  throw new Error(`Expected one of ${STEPS.map((known) => known.name).join(', ')}; got ${name}`);
}

const { parts } = step;
const rest = property();

await serve({
  // Events that come together are published together, as the last step needs.
  consume: 'eachBatch',
  // Keys are converted after Redis, for each subscriber, as in the story.
  transform: (event) => ({ ...event, property: rest }),
  listen: listenWith((schema) => {
    const fanOut = parts.makeFanOut(parts.delivery);
    const subscriptionOf = subscriptions(schema, parts);
    return {
      onSubscribe: ({ extra }, id, payload) => subscriptionOf(extra, id, payload),
      subscribe: (args) => fanOut(args as Subscription),
    };
  }),
});

function subscriptions(schema: GraphQLSchema, { makeEngine, makeContext, convertKeys }: Parts) {
  const prepare = makeEngine(schema);
  return (
    connection: Extra,
    id: string,
    { query, operationName, variables }: SubscribePayload,
  ): Subscription | readonly GraphQLError[] => {
    const prepared = prepare(query, operationName ?? undefined);
    if (!('document' in prepared)) return prepared;
    return new Subscription({
      id,
      connection,
      schema,
      prepared,
      operationName: operationName ?? undefined,
      variables: variables ?? {},
      makeContext,
      convertKeys,
    });
  };
}
