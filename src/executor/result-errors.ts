import { GraphQLError, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { messageOf } from '../errors.ts';
import type { GraphContext } from '../graph/api/context.ts';
import { ENDED, MAX_ERRORS } from '../graph/error-budget.ts';
import type { Log } from '../log.ts';
import { loggedIdsOf } from '../tracing/traced-contexts.ts';
import type { LoggedIds } from '../tracing/traceparent.ts';
import { FaultLog, type Fault } from './fault-log.ts';
import { FieldNames } from './field-names.ts';
import { frozenHint } from './frozen-hint.ts';
import type { Operation } from './operation.ts';

/**
 * Errors that graphql-js itself reports if a value does not fit the schema. They are GraphQLErrors, like those that a graph
 * throws for its clients, but most quote the value, which is content of an event or of a back end.
 */
const OF_A_VALUE = [
  /^(?:Int|Float|String|Boolean|ID) cannot represent /,
  /^Enum "\w+" cannot represent value: /,
  /^Expected value of type "\w+" but got: /,
  /^Expected Iterable, but did not find one for field /,
  /^Abstract type "\w+" (?:must resolve|was resolved) to /,
  /^Runtime Object type "\w+" is not a possible type for /,
  /^Support for returning GraphQLObjectType from resolveType was removed /,
];

/** The label for errors without a code from the graph. */
const NO_CODE = 'none';
const MAX_CODE = 100;

/** The judgement of an error in a result: its code from the graph, for clients, or the fault behind it. */
type Judgement = { readonly code: string } | { readonly fault: unknown };

/**
 * Distinguishes errors that a graph throws for its clients, GraphQLErrors, from all others. Never throws, even if code of
 * the graph does: getters and `toJSON` of the thrown value.
 */
function judge(error: unknown): Judgement {
  try {
    if (!(error instanceof GraphQLError)) return { fault: error };
    const thrown = error.originalError ?? error;
    if (!(thrown instanceof GraphQLError)) return { fault: thrown };
    if (OF_A_VALUE.some((pattern) => pattern.test(thrown.message))) return { fault: thrown };
    return isWritable(error) ? { code: codeOf(error) } : { fault: unwritable(error) };
  } catch (thrown) {
    return { fault: thrown };
  }
}

function codeOf({ extensions }: GraphQLError): string {
  const code = extensions['code'];
  return typeof code === 'string' && code !== '' ? code.slice(0, MAX_CODE) : NO_CODE;
}

/** Whether JSON can hold the error: if not, the error would make the whole result unwritable. */
function isWritable(error: GraphQLError): boolean {
  try {
    return JSON.stringify(error) !== undefined;
  } catch {
    return false;
  }
}

function unwritable(error: GraphQLError): TypeError {
  return new TypeError(
    `expected a GraphQLError that can be written as JSON, extensions included, got "${messageOf(error)}"`,
    { cause: error },
  );
}

/** `extensions.code` of errors that a graph has not thrown for its clients. */
export const INTERNAL_CODE = 'INTERNAL_SERVER_ERROR';

/** The code for a result that JSON can't hold, since a scalar serialises to something that JSON does not have. */
export const UNSERIALISABLE_CODE = 'UNSERIALISABLE_RESULT';

/** Clients get this in place of a result that JSON can't hold. */
export const UNSERIALISABLE: ExecutionResult = {
  errors: [
    new GraphQLError(
      'The result cannot be written as JSON: a scalar serialises to something that JSON does not have.',
      { extensions: { code: UNSERIALISABLE_CODE } },
    ),
  ],
  data: null,
};

const INTERNAL_MESSAGE = 'Internal server error';

export interface ResultErrorsOptions {
  readonly schema: GraphQLSchema;
  /** Whether clients get a neutral message in place of a fault's own. */
  readonly mask: boolean;
  /**
   * Called once for each execution, field and code.
   *
   * @param field `Type.field`
   * @param code `extensions.code`, INTERNAL_SERVER_ERROR for a fault; the graph's author chooses it
   */
  readonly failed: (field: string, code: string, count: number) => void;
  readonly log: Log;
  /** ms, of a monotonic clock. */
  readonly now: () => number;
}

type Path = GraphQLError['path'];

/** Errors of one execution that have field and code in common. */
interface Tally {
  readonly field: string;
  readonly code: string;
  count: number;
  /** The first of them, if they are faults. */
  readonly fault: Pick<Fault, 'path' | 'thrown'> | undefined;
}

/**
 * Handles the errors of an execution: counts them, logs faults, and gives clients the errors meant for them. GraphQLErrors
 * that the graph has thrown are for clients; everything else is a fault.
 */
export class ResultErrors {
  readonly #names: FieldNames;
  readonly #log: FaultLog;
  readonly #mask: boolean;
  readonly #failed: ResultErrorsOptions['failed'];

  constructor({ schema, mask, failed, log, now }: ResultErrorsOptions) {
    this.#names = new FieldNames(schema);
    this.#log = new FaultLog(log, now);
    this.#mask = mask;
    this.#failed = failed;
  }

  /**
   * Never throws. A result without data was never executed: its errors are the client's own.
   *
   * @param context of the execution: if it was aborted, no client waits for the result, and its errors are not faults
   */
  presented(operation: Operation, result: ExecutionResult, context: unknown): ExecutionResult {
    const { errors } = result;
    if (errors === undefined || !('data' in result)) return result;
    const shown: GraphQLError[] = [];
    const tallies = new Map<string, Tally>();
    // A hostile graph may throw anything, and graphql-js reports it unchanged.
    for (const error of errors as readonly unknown[]) {
      if (error === ENDED) continue;
      const judgement = judge(error);
      const path = pathOf(error);
      const isFault = 'fault' in judgement;
      const field = this.#names.of(operation, nodeOf(error));
      const code = isFault ? INTERNAL_CODE : judgement.code;
      const key = `${field} ${code}`;
      const tally = tallies.get(key);
      if (tally !== undefined) tally.count += 1;
      else {
        const fault = isFault ? { path, thrown: judgement.fault } : undefined;
        tallies.set(key, { field, code, count: 1, fault });
      }
      if (shown.length < MAX_ERRORS) shown.push(isFault ? this.#shown(error, path) : (error as GraphQLError));
    }
    if (errors.length > shown.length) shown.push(LEFT_OUT);
    if (!isAborted(context)) this.#report(operation, tallies.values(), loggedIdsOf(context));
    return { ...result, errors: shown };
  }

  /** The result of an execution without a result, as something outside a field threw. Never throws. */
  failure(operation: Operation, thrown: unknown): ExecutionResult {
    return this.presented(operation, { errors: [thrown as GraphQLError], data: null }, undefined);
  }

  /** @returns the result; if JSON can't hold it, an error result, which is counted and logged */
  writable(operation: Operation, result: ExecutionResult): ExecutionResult {
    if (!this.#names.hasCustomScalars(operation)) return result;
    try {
      JSON.stringify(result.data);
      return result;
    } catch (thrown) {
      this.unserialisable(operation, undefined, thrown);
      return UNSERIALISABLE;
    }
  }

  /**
   * Counts and logs a result that can't be written, which is a fault as a whole.
   *
   * @param field of the operation's root type; undefined: the type itself is reported
   * @param thrown by JSON.stringify
   */
  unserialisable(operation: Operation, field: string | undefined, thrown: unknown): void {
    const fault = {
      path: undefined,
      thrown: new TypeError(
        `expected a result that can be written as JSON, got one that can't: ${messageOf(thrown)}`,
        { cause: thrown },
      ),
    };
    const name =
      field === undefined ? this.#names.of(operation, field) : this.#names.ofRoot(operation, field);
    const tally = { field: name, code: UNSERIALISABLE_CODE, count: 1, fault };
    this.#report(operation, [tally]);
  }

  #report(operation: Operation, tallies: Iterable<Tally>, span?: LoggedIds): void {
    for (const { field, code, count, fault } of tallies) {
      this.#failed(field, code, count);
      if (fault !== undefined) this.#log.add(operation.name, { field, errors: count, ...fault }, span);
    }
  }

  /** The error for clients: it keeps nothing of the original except, unless masked, its message. */
  #shown(error: unknown, path: Path): GraphQLError {
    const message = this.#mask ? INTERNAL_MESSAGE : withHint(error);
    return new GraphQLError(message, { path: path ?? null, extensions: { code: INTERNAL_CODE } });
  }
}

function withHint(error: unknown): string {
  const hint = frozenHint(error);
  return hint === undefined ? messageOf(error) : `${messageOf(error)}. ${hint}`;
}

const LEFT_OUT = new GraphQLError(
  `A result has at most ${MAX_ERRORS} errors: what comes after them has not been executed.`,
  { extensions: { code: 'ERRORS_LEFT_OUT' } },
);

/** Undefined if `path` is not the path of a result: a graph's own error may have a property of this name. */
function pathOf(error: unknown): Path {
  try {
    if (!(error instanceof GraphQLError) || !Array.isArray(error.path)) return undefined;
    return error.path.every((key) => typeof key === 'string' || typeof key === 'number')
      ? error.path
      : undefined;
  } catch {
    return undefined;
  }
}

function nodeOf(error: unknown): unknown {
  try {
    return error instanceof GraphQLError ? error.nodes?.[0] : undefined;
  } catch {
    return undefined;
  }
}

function isAborted(context: unknown): boolean {
  try {
    return (context as Partial<GraphContext> | null | undefined)?.signal?.aborted === true;
  } catch {
    return false;
  }
}
