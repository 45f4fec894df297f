import {
  GraphQLError,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import type { SubscribePayload } from '#graphql-ws';
import { PendingQuery } from '../../context/pending-query.ts';
import type { Queries } from '../../context/queries.ts';
import type { OperationAdmission } from '../../executor/operation-admission.ts';
import type { Operation } from '../../executor/operation.ts';
import type { Log } from '../../log.ts';
import type { Connection } from './connection.ts';
import type { MessageRate } from './message-rate.ts';
import type { Connections } from '../connections/connections.ts';
import type { Subscriptions } from '../connections/subscriptions.ts';
import type { SubscribeExtensions } from '../delivery/client-subscription.ts';
import { WebSocketSubscription } from './subscription.ts';

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * A query or mutation on a WebSocket that is not over at once: for graphql-ws, an iterable of one result. graphql-ws calls
 * `return` when the client sends `complete`, or its socket is closed.
 */
class WebSocketQuery implements AsyncIterableIterator<ExecutionResult, undefined> {
  #pending: PendingQuery | undefined;

  constructor(pending: PendingQuery) {
    this.#pending = pending;
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const value = await this.#pending?.result();
    this.#pending = undefined;
    return value === undefined ? DONE : { value };
  }

  return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#pending?.cancel();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Options that depend on the graph are read for each operation, in one turn: a new graph replaces them. */
export interface OperationOptions {
  readonly schema: GraphQLSchema;
  readonly admission: Pick<OperationAdmission, 'prepare'>;
  readonly subscriptions: Subscriptions;
  readonly queries: Pick<Queries, 'execute'>;
  readonly log: Log;
  readonly rate: Pick<MessageRate, 'inTurn' | 'turnsOf'>;
  /** The connections of all transports. */
  readonly connections: Pick<Connections, 'sessions'>;
}

/** A query or mutation over WebSocket, in the form that graphql-ws hands to `execute`. */
interface QueryArgs extends ExecutionArgs {
  readonly connection: Connection;
  readonly id: string;
  readonly operation: Operation;
  readonly document: DocumentNode;
  /** The queries of the graph for which the operation is valid: another graph may be in force when its turn comes. */
  readonly queries: OperationOptions['queries'];
}

/** A result of which graphql-ws sends nothing. */
const NOT_EXECUTED: ExecutionResult = {};

/** The hooks of graphql-ws, which begin the GraphQL operations of all connections. */
export class Operations {
  readonly #options: OperationOptions;

  constructor(options: OperationOptions) {
    this.#options = options;
  }

  /**
   * The hook `onSubscribe`. Never throws: any fault of one operation is an `error` for its id.
   *
   * @returns a WebSocketSubscription that has joined its group, the arguments of a query, or at least one error
   */
  start(
    connection: Connection,
    id: string,
    payload: SubscribePayload,
  ): ExecutionArgs | readonly GraphQLError[] {
    const begun = this.#started(connection, id, payload);
    // Now: messages that came with this one are handled before graphql-ws has told the client.
    if (Array.isArray(begun)) connection.openOperations.over(id);
    return begun;
  }

  /**
   * The hook `execute`, for queries and mutations: pipelined ones take turns, as messages do. One that the client has
   * completed meanwhile no longer counts, so it must not begin: otherwise any number could run at once. Operations of a
   * revoked viewer must not begin either.
   */
  execute(args: ExecutionArgs): Promise<ExecutionResult | WebSocketQuery> {
    const { connection, id } = args as QueryArgs;
    return this.#options.rate.inTurn(connection, () =>
      connection.openOperations.isOver(id) || !this.#mayBegin(connection)
        ? NOT_EXECUTED
        : this.#execute(args),
    );
  }

  #execute(args: ExecutionArgs): ExecutionResult | WebSocketQuery {
    const { operation, variableValues, connection, queries } = args as QueryArgs;
    const result = queries.execute({
      operation,
      variables: variableValues ?? {},
      viewer: connection.viewer,
      owner: connection.client ?? connection,
      mayBegin: () => this.#mayBegin(connection),
      turns: this.#options.rate.turnsOf(connection),
    });
    return result instanceof PendingQuery ? new WebSocketQuery(result) : result;
  }

  #mayBegin(connection: Connection): boolean {
    return connection.open && this.#options.connections.sessions?.isRevoked(connection) !== true;
  }

  #started(
    connection: Connection,
    id: string,
    payload: SubscribePayload,
  ): ExecutionArgs | readonly GraphQLError[] {
    try {
      return this.#start(connection, id, payload);
    } catch (error) {
      this.#options.log.error({ err: error }, 'an operation failed before it began');
      return [new GraphQLError('Internal server error')];
    }
  }

  #start(
    connection: Connection,
    id: string,
    payload: SubscribePayload,
  ): ExecutionArgs | readonly GraphQLError[] {
    const { admission, subscriptions, schema, queries } = this.#options;
    const refused = subscriptions.refusal(connection, id);
    if (refused !== undefined) return [refused];
    const operation = admission.prepare(payload, connection.viewer);
    if (!('document' in operation)) return operation;
    const variables = payload.variables ?? {};
    if (operation.kind !== 'subscription') {
      const { document, name } = operation;
      const args: QueryArgs = {
        connection,
        id,
        operation,
        queries,
        schema,
        document,
        operationName: name,
        variableValues: variables,
      };
      return args;
    }
    const extensions: SubscribeExtensions = payload.extensions ?? {};
    const subscription = new WebSocketSubscription(id, operation, extensions, connection);
    const { resume } = extensions;
    const errors = subscriptions.join(subscription, operation, variables, resume, connection);
    if (errors !== undefined) return errors;
    // graphql-ws keeps the message as long as the subscription lives: let it keep objects that all share.
    Object.assign(payload, { query: operation.query, variables: subscription.group?.plan.variables });
    if (payload.extensions !== undefined) Object.assign(payload, { extensions: undefined });
    if ('documentId' in payload) Object.assign(payload, { documentId: undefined });
    return subscription;
  }
}
