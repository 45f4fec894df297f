import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import type { Extra } from 'graphql-ws/use/ws';
import type { JsonValue } from '../../../src/events/event.ts';
import { variablesKey } from '../../../src/hub/group-key.ts';
import type { MakeContext } from './step-contexts.ts';
import type { Prepared, Variables } from './engines.ts';
import type { ConvertKeys } from './key-conversions.ts';

interface SubscriptionOptions {
  /** The client's name for the subscription. */
  readonly id: string;
  readonly connection: Extra;
  readonly schema: GraphQLSchema;
  readonly prepared: Prepared;
  readonly operationName: string | undefined;
  readonly variables: Variables;
  readonly makeContext: MakeContext;
  readonly convertKeys: ConvertKeys;
}

/** One subscription, which graphql-ws keeps as the arguments of its execution. */
export class Subscription implements ExecutionArgs {
  readonly id: string;
  readonly connection: Extra;
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variableValues: Variables;
  /** The context of the subscribe resolver; each event gets another context. */
  readonly contextValue: object;
  readonly #options: SubscriptionOptions;

  constructor(options: SubscriptionOptions) {
    this.id = options.id;
    this.connection = options.connection;
    this.schema = options.schema;
    this.document = options.prepared.document;
    this.operationName = options.operationName;
    this.variableValues = options.variables;
    this.contextValue = options.makeContext();
    this.#options = options;
  }

  /** The same for all subscriptions of a document with the same operation and variables. */
  get groupKey(): string {
    const { prepared, operationName = '', variables } = this.#options;
    return `${operationName}(${variablesKey(prepared.variableNames, variables)})`;
  }

  /** @returns the events of the subscription, or errors */
  subscribe(): Promise<AsyncIterable<unknown> | ExecutionResult> {
    return createSourceEventStream(this);
  }

  execute(event: unknown): ExecutionResult | Promise<ExecutionResult> {
    const { prepared, makeContext, convertKeys, variables } = this.#options;
    return prepared.execute(convertKeys(event as JsonValue), makeContext(), variables);
  }
}
