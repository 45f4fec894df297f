import {
  execute,
  getOperationAST,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { Executor } from '../../../src/executor/executor.ts';
import { createLog } from '../../../src/log.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** An operation that is ready to be executed. */
export interface Prepared {
  readonly document: DocumentNode;
  /** The names of the variables that the operation declares. */
  readonly variableNames: readonly string[];
  execute(event: unknown, context: unknown, variables: Variables): ExecutionResult | Promise<ExecutionResult>;
}

/** Prepares the document that a client has sent. */
export type Engine = (query: string, operationName: string | undefined) => Prepared | readonly GraphQLError[];

export type MakeEngine = (schema: GraphQLSchema) => Engine;

/** Parses, validates and keeps a document for each subscription, as graphql-ws does. */
export const graphqlJs: MakeEngine = (schema) => interpreter(schema, false);

/** The same without the locations of syntax nodes, and without the tokens that they refer to. */
export const graphqlJsWithoutLocations: MakeEngine = (schema) => interpreter(schema, true);

/** The gateway's executor: prepares documents once, and compiles frequent ones. */
export const cacheAndJit: MakeEngine = (schema) => {
  const executor = new Executor({ schema, cacheSize: 1_000, log: createLog('silent') });
  return (query, operationName) => {
    const operation = executor.prepare(query, operationName);
    if (!('document' in operation)) return operation;
    return {
      document: operation.document,
      variableNames: operation.variableNames,
      execute: (event, context, variables) => executor.execute(operation, event, context, variables),
    };
  };
};

function interpreter(schema: GraphQLSchema, noLocation: boolean): Engine {
  return (query, operationName) => {
    let document: DocumentNode;
    try {
      document = parse(query, { noLocation });
    } catch (error) {
      return [error as GraphQLError];
    }
    const errors = validate(schema, document);
    if (errors.length > 0) return errors;
    const operation = getOperationAST(document, operationName);
    if (!operation) return [new GraphQLError('Unable to identify operation')];
    return {
      document,
      variableNames: (operation.variableDefinitions ?? []).map(({ variable }) => variable.name.value),
      execute: (rootValue, contextValue, variableValues) =>
        execute({ schema, document, operationName, rootValue, contextValue, variableValues }),
    };
  };
}
