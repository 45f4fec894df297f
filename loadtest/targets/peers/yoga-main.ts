/** GraphQL Yoga, with graphql-ws as its documentation shows it. */
import type { ExecutionArgs, GraphQLError, GraphQLSchema, parse, validate } from 'graphql';
import type { ServerOptions } from 'graphql-ws';
import type { Extra } from 'graphql-ws/use/ws';
import snakecaseKeys from 'snakecase-keys';
import { listenWith } from '../stock/graphql-ws-server.ts';
import { serve } from '../stock/readme-server.ts';
import { peerPackage } from './peer-package.ts';

type Execute = (args: ExecutionArgs) => never;

interface Enveloped {
  readonly schema: GraphQLSchema;
  readonly execute: Execute;
  readonly subscribe: Execute;
  readonly contextFactory: () => Promise<unknown>;
  readonly parse: typeof parse;
  readonly validate: typeof validate;
}

interface Yoga {
  getEnveloped(context: object): Enveloped;
}

const { createYoga } = peerPackage('graphql-yoga') as {
  createYoga: (options: { schema: GraphQLSchema; logging: boolean }) => Yoga;
};

const rootOf = ({ rootValue }: ExecutionArgs) => rootValue as Pick<Enveloped, 'execute' | 'subscribe'>;

function optionsOf(schema: GraphQLSchema): ServerOptions<Record<string, unknown>, Extra> {
  const yoga = createYoga({ schema, logging: false });
  return {
    execute: (args) => rootOf(args).execute(args),
    subscribe: (args) => rootOf(args).subscribe(args),
    onSubscribe: async (context, _id, params): Promise<readonly GraphQLError[] | ExecutionArgs> => {
      const { request: req, socket } = context.extra;
      const enveloped = yoga.getEnveloped({ ...context, req, socket, params });
      const document = enveloped.parse(params.query);
      const errors = enveloped.validate(enveloped.schema, document);
      if (errors.length > 0) return errors;
      return {
        schema: enveloped.schema,
        operationName: params.operationName ?? null,
        document,
        variableValues: params.variables ?? null,
        contextValue: await enveloped.contextFactory(),
        rootValue: { execute: enveloped.execute, subscribe: enveloped.subscribe },
      };
    },
  };
}

await serve({
  consume: 'eachMessage',
  transform: (event) => snakecaseKeys(event),
  listen: listenWith(optionsOf),
});
