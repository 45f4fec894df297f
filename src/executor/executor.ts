import {
  GraphQLError,
  type ExecutionResult,
  type GraphQLSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  getArgumentValues,
  type FieldNode,
} from 'graphql';
import type { Log } from '../log.ts';
import { AdaptiveJit } from './adaptive-jit.ts';
import { CostCheck } from './cost/cost-check.ts';
import { DEFAULT_COST_LIMITS, isCostCode, type CostCode, type CostLimits } from './cost/limits.ts';
import { Documents } from './documents.ts';
import { isPromise } from './guard.ts';
import { interpret } from './interpret.ts';
import type { Operation } from './operation.ts';
import { ResultErrors, type ResultErrorsOptions } from './result-errors.ts';
import { VariableErrors } from './variable-errors.ts';
import { type Variables, coerceVariables } from './variables.ts';
import { LocatedError } from './located-error.ts';
import { collectFields } from 'graphql/execution/collectFields.js';
import { messageOf } from '../errors.ts';
import { fragmentsOf } from './fragments.ts';

/** The end of graphql-js's messages that suggest similar names of the schema. */
const SUGGESTION = / Did you mean .*$/s;

/** The errors of a document or of variables, without names of the schema that the client has not used itself. */
function withoutSuggestions(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  return errors.map((error) => {
    const { message, locations, extensions } = error;
    if (!SUGGESTION.test(message)) return error;
    return new LocatedError({ message: message.replace(SUGGESTION, ''), locations, extensions });
  });
}

export interface ExecutorOptions {
  readonly schema: GraphQLSchema;
  /** Number of parsed and validated documents kept. */
  readonly cacheSize: number;
  /**
   * Characters of query text kept, over all documents; the parsed document takes about 80 bytes per character. Documents
   * whose operations are in use are found again beyond that.
   *
   * @default 1_000_000
   */
  readonly cacheCharacters?: number;
  /** Limits that are not given are DEFAULT_COST_LIMITS. */
  readonly limits?: Partial<CostLimits>;
  /** Called for each operation that is refused because of one of the limits. */
  readonly refused?: (code: CostCode) => void;
  /**
   * Number of fields for which compiled code is kept, over all operations; about 1.2 KB each.
   *
   * @default 50_000
   */
  readonly maxCompiledFields?: number;
  /**
   * Whether errors suggest other names of the schema ("Did you mean …?").
   *
   * @default true
   */
  readonly suggestions?: boolean;
  /**
   * Whether clients get `Internal server error` in place of the message of an error that was not meant for them.
   *
   * @default true
   */
  readonly maskErrors?: boolean;
  /** Called with the errors of each execution; see ResultErrors. */
  readonly failed?: ResultErrorsOptions['failed'];
  /**
   * A monotonic clock in ms, which limits how much is compiled and logged in a second.
   *
   * @default performance.now
   */
  readonly now?: () => number;
  readonly log: Log;
}

/**
 * Prepares and executes GraphQL operations. No method throws or rejects: every failure is returned as GraphQLErrors.
 */
export class Executor {
  readonly #schema: GraphQLSchema;
  readonly #documents: Documents;
  readonly #jit: AdaptiveJit;
  readonly #errors: ResultErrors;
  readonly #costs: CostCheck;
  readonly #refused: (code: CostCode) => void;
  readonly #suggestions: boolean;
  readonly #variableErrors = new VariableErrors();

  constructor({ schema, cacheSize, suggestions = true, log, limits, refused, ...options }: ExecutorOptions) {
    const {
      cacheCharacters = 1_000_000,
      maxCompiledFields = 50_000,
      maskErrors: mask = true,
      failed = () => undefined,
      now = () => performance.now(),
    } = options;
    this.#schema = schema;
    this.#suggestions = suggestions;
    this.#costs = new CostCheck(schema, { ...DEFAULT_COST_LIMITS, ...limits });
    this.#refused = refused ?? (() => undefined);
    this.#documents = new Documents(schema, { entries: cacheSize, characters: cacheCharacters }, this.#costs);
    this.#errors = new ResultErrors({ schema, mask, failed, log, now });
    this.#jit = new AdaptiveJit(schema, this.#errors, maxCompiledFields, log, now);
  }

  /** How often the compiler compiled and refused an operation, and how often compiled code fell back to graphql-js. */
  get counts(): Readonly<{ compiled: number; refused: number; fallback: number }> {
    return this.#jit.counts;
  }

  /**
   * Parses the document, checks its cost, validates it and picks the operation.
   *
   * @param operationName may be left out if the document has one operation
   * @param variables as the client sent them; they may give sizes of lists
   * @returns the interned operation, or at least one error; errors of syntax and validation have locations
   */
  prepare(
    query: string,
    operationName?: string | null,
    variables: Variables = {},
  ): Operation | readonly GraphQLError[] {
    const operation = this.#operation(query, operationName);
    if (!('document' in operation)) return this.#counted(operation);
    const tooMuch = this.#costs.ofVariables(operation, variables);
    return tooMuch === undefined ? operation : this.#counted([tooMuch]);
  }

  #counted(errors: readonly GraphQLError[]): readonly GraphQLError[] {
    for (const { extensions } of errors)
      if (isCostCode(extensions['code'])) this.#refused(extensions['code']);
    return errors;
  }

  #operation(query: string, operationName?: string | null): Operation | readonly GraphQLError[] {
    const { operations, errors } = this.#documents.get(query);
    if (errors !== undefined) return this.#shown(errors);
    const [first, second] = operations;
    if (operationName != null) {
      const named = operations.find(({ name }) => name === operationName);
      return named ?? [new GraphQLError(`Unknown operation named "${operationName}".`)];
    }
    if (first === undefined) return [new GraphQLError('Must provide an operation.')];
    if (second === undefined) return first;
    return [new GraphQLError('Must provide operation name if query contains multiple operations.')];
  }

  /** Parses and validates a document without picking an operation. @returns its errors */
  check(query: string): readonly GraphQLError[] {
    const { operations = [], errors = [] } = this.#documents.get(query);
    if (errors.length > 0 || operations.length > 0) return errors;
    return [new GraphQLError('expected at least one operation, got fragments only')];
  }

  /**
   * @returns the root field of a subscription and its coerced arguments, or at least one error if they can't be
   * coerced
   */
  subscriptionField(operation: Operation, variables: Variables): SubscriptionField | readonly GraphQLError[] {
    const found = subscriptionField(this.#schema, operation, variables);
    return 'field' in found ? found : this.#ofVariables(operation, found);
  }

  /** The types of all fields that its document selects: used to compare two schemas. */
  selectedTypes(operation: Operation): ReadonlyMap<string, string> {
    return selectedTypes(this.#schema, operation);
  }

  /**
   * Executes a query, a mutation, or a subscription's selection for one event. Synchronous unless a resolver is
   * asynchronous. After an error, resolvers of queries and subscriptions may be called a second time. Errors are counted,
   * logged, and returned in the form for clients.
   *
   * @param rootValue for a subscription: the event
   * @param contextValue `ctx` of resolvers
   * @param variables as the client sent them
   */
  execute(
    operation: Operation,
    rootValue: unknown,
    contextValue: unknown,
    variables: Variables,
  ): ExecutionResult | Promise<ExecutionResult> {
    const result =
      operation.kind === 'mutation'
        ? interpret(this.#schema, this.#errors, operation, rootValue, contextValue, variables)
        : this.#jit.execute(operation, rootValue, contextValue, variables);
    // Errors of variables are found before anything is asynchronous; a subscription's were found when it began.
    if (isPromise(result) || 'data' in result) return result;
    return { ...result, errors: this.#ofVariables(operation, result.errors ?? []) };
  }

  #ofVariables(operation: Operation, errors: readonly GraphQLError[]): readonly GraphQLError[] {
    return this.#shown(this.#variableErrors.located(operation, errors));
  }

  /**
   * The result of an operation that could not begin or end its execution: the error is treated like a resolver's.
   *
   * @param thrown by the graph's `context`
   */
  failure(operation: Operation, thrown: unknown): ExecutionResult {
    return this.#errors.failure(operation, thrown);
  }

  /** The result of a query or mutation, or an error result if JSON can't hold it. */
  writable(operation: Operation, result: ExecutionResult): ExecutionResult {
    return this.#errors.writable(operation, result);
  }

  /**
   * Counts and logs a result that can't be written as JSON.
   *
   * @param field of the operation's root type
   * @param thrown by JSON.stringify
   */
  unserialisable(operation: Operation, field: string, thrown: unknown): void {
    this.#errors.unserialisable(operation, field, thrown);
  }

  #shown(errors: readonly GraphQLError[]): readonly GraphQLError[] {
    return this.#suggestions ? errors : withoutSuggestions(errors);
  }
}

/** The types of all fields that a document selects, by type and field: `Bid.amount` → `Int!`. */
function selectedTypes(schema: GraphQLSchema, { document }: Operation): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  const info = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(info, {
      Field({ name }) {
        types.set(`${info.getParentType()?.name}.${name.value}`, String(info.getType()));
      },
    }),
  );
  return types;
}

/** The root field of a subscription, and its coerced arguments as a resolver would get them. */
interface SubscriptionField {
  readonly field: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Never throws: arguments that can't be coerced give at least one error. */
function subscriptionField(
  schema: GraphQLSchema,
  operation: Operation,
  rawVariables: Variables,
): SubscriptionField | readonly GraphQLError[] {
  const type = schema.getSubscriptionType();
  const node = rootNode(schema, operation);
  const field = type?.getFields()[node?.name.value ?? ''];
  if (node === undefined || field === undefined) {
    return [new GraphQLError(`Expected a subscription to one field, got a ${operation.kind}.`)];
  }
  try {
    const { errors, coerced } = coerceVariables(schema, operation, rawVariables);
    if (errors) return errors;
    return { field: field.name, args: getArgumentValues(field, node, coerced) };
  } catch (thrown) {
    if (thrown instanceof GraphQLError) return [thrown];
    return [new GraphQLError(`The arguments of ${field.name} can't be read: ${messageOf(thrown)}`)];
  }
}

/** `rootConditionErrors` has refused conditions at the root, so the only root field is found without variables. */
function rootNode(schema: GraphQLSchema, { definition, document, kind }: Operation): FieldNode | undefined {
  const type = schema.getSubscriptionType();
  if (type == null || kind !== 'subscription') return undefined;
  const fields = collectFields(schema, fragmentsOf(document), {}, type, definition.selectionSet);
  for (const [node] of fields.values()) return node;
  return undefined;
}
