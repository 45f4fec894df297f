import type { ExecutionResult, GraphQLSchema, FieldNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { interpret } from './interpret.ts';
import { type CompiledRun, JitSchema } from './jit-schema.ts';
import { JitState, type Specialization } from './jit-state.ts';
import type { Operation } from './operation.ts';
import type { ResultErrors } from './result-errors.ts';
import { Rate } from '../support/rate.ts';
import { coerceVariables, type Variables } from './variables.ts';
import { compileQuery, isCompiledQuery } from '#graphql-jit';
import { FlatOperation, NotCompilable } from './flat-operation.ts';

/** The code of one specialization. */
interface CompiledOperation {
  /** If it throws, rejects or reports errors, graphql-js has to execute the operation instead. */
  readonly execute: (rootValue: unknown, run: CompiledRun) => ExecutionResult | Promise<ExecutionResult>;
  /** Number of compiled fields; see FlatOperation. */
  readonly size: number;
}

/** Compiles the operations of one schema with graphql-jit. */
class Compiler {
  readonly #schema: GraphQLSchema;
  #copy: JitSchema | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /**
   * @param variables coerced; the code is valid for all executions in which the variables of conditions have these
   *   values
   * @throws NotCompilable, or an error of graphql-jit
   */
  compile(operation: Operation, variables: Variables): CompiledOperation {
    const flat = new FlatOperation(this.#schema, operation, variables);
    const copy = (this.#copy ??= new JitSchema(this.#schema));
    const original = { schema: this.#schema, fragments: flat.fragments, operation: operation.definition };
    const compiled = compileQuery(copy.schema, flat.document, undefined, {
      customSerializers: copy.serializers,
      // After an error of compiled code graphql-js executes the operation again, so the stack is never shown.
      disablingCapturingStackErrors: true,
      resolverInfoEnricher: ({ fieldNodes }: { fieldNodes: readonly FieldNode[] }) => {
        const { typenames, ...site } = flat.site(fieldNodes[0]) ?? {};
        // JitSchema puts the variables in this place when it has read the typenames.
        return { ...original, ...site, variableValues: typenames };
      },
      useExperimentalPathBasedSkipInclude: true,
    });
    if (!isCompiledQuery(compiled)) {
      throw new NotCompilable(compiled.errors?.map(({ message }) => message).join('; '));
    }
    return {
      execute: (rootValue, run) => {
        copy.begin();
        return compiled.query(rootValue, run, undefined);
      },
      size: flat.size,
    };
  }
}

type MaybePromise<T> = T | Promise<T>;

/**
 * Compiling takes as long as about 11 runs on graphql-js (270 µs and 25 µs, 30 fields). Compiling after about as many
 * runs costs at most twice the best choice made with knowledge of how often the operation will run.
 */
const COMPILE_AFTER_RUNS = 10;

/**
 * Fields compiled in a second, at 10 to 100 µs each; a thousand more at once. If clients keep sending new documents,
 * further operations run on graphql-js for a while.
 */
const FIELDS_PER_SECOND = 1_000;

interface CoercedVariables {
  readonly operation: Operation;
  readonly variables: Variables;
}

/**
 * Runs an operation on graphql-js at first, and as compiled code once it has run often.
 *
 * A result of compiled code is used only if it has no errors. When compiled code throws, rejects or reports an error,
 * graphql-js executes the operation again and its result is returned (the fallback). Resolvers may thus be called twice
 * for one event, so mutations must not be executed here.
 */
export class AdaptiveJit {
  readonly counts = { compiled: 0, refused: 0, fallback: 0 };
  readonly #schema: GraphQLSchema;
  readonly #errors: ResultErrors;
  readonly #log: Log;
  readonly #compiler: Compiler;
  readonly #states = new WeakMap<Operation, JitState>();
  /** Keyed by raw variables: a group passes the same object with each event. */
  readonly #coerced = new WeakMap<Variables, CoercedVariables>();
  /** The least recently used code is evicted first, and compiled again after COMPILE_AFTER_RUNS further runs. */
  readonly #compiled: LRUCache<Specialization, CompiledOperation>;

  readonly #rate: Rate;

  /**
   * @param maxFields number of fields for which code is kept, over all operations; about 1.2 KB each
   * @param now a monotonic clock
   */
  constructor(schema: GraphQLSchema, errors: ResultErrors, maxFields: number, log: Log, now: () => number) {
    this.#rate = new Rate(FIELDS_PER_SECOND, now);
    this.#schema = schema;
    this.#errors = errors;
    this.#log = log;
    this.#compiler = new Compiler(schema);
    this.#compiled = new LRUCache({
      maxSize: maxFields,
      sizeCalculation: ({ size }) => size + 1,
      dispose: (_, specialization) => {
        specialization.runs = 0;
      },
    });
  }

  /**
   * Never throws, never rejects: failures are in the result's `errors`.
   *
   * @param raw variables as the client sent them
   */
  execute(
    operation: Operation,
    rootValue: unknown,
    context: unknown,
    raw: Variables,
  ): MaybePromise<ExecutionResult> {
    const state = this.#stateOf(operation);
    const variables = state.interpretOnly ? undefined : this.#coerce(operation, raw);
    const compiled = variables && this.#compiledFor(operation, state, variables);
    if (variables === undefined || compiled === undefined) {
      return interpret(this.#schema, this.#errors, operation, rootValue, context, raw);
    }

    state.countCompiledRun();
    const run: CompiledRun = { context, variables, failures: 0, refusals: undefined };
    try {
      const result = compiled.execute(rootValue, run);
      if (!(result instanceof Promise)) {
        return result.errors
          ? this.#fallBack(operation, state, rootValue, run, raw)
          : this.#withRefusals(operation, result, run);
      }
      const fallBack = (): MaybePromise<ExecutionResult> =>
        this.#fallBack(operation, state, rootValue, run, raw);
      return result.then(
        (settled) => (settled.errors ? fallBack() : this.#withRefusals(operation, settled, run)),
        fallBack,
      );
    } catch {
      return this.#fallBack(operation, state, rootValue, run, raw);
    }
  }

  /** Adds the errors for fields that the viewer may not use: those of graphql-js, in another order. */
  #withRefusals(
    operation: Operation,
    result: ExecutionResult,
    { refusals, context }: CompiledRun,
  ): ExecutionResult {
    if (refusals === undefined) return result;
    return this.#errors.presented(operation, { errors: refusals, ...result }, context);
  }

  #fallBack(
    operation: Operation,
    state: JitState,
    rootValue: unknown,
    { context, refusals }: CompiledRun,
    raw: Variables,
  ): MaybePromise<ExecutionResult> {
    this.counts.fallback++;
    // A viewer who may not use a field must not make the operation slower for those who may.
    if (refusals === undefined) state.countFallback();
    return interpret(this.#schema, this.#errors, operation, rootValue, context, raw);
  }

  #stateOf(operation: Operation): JitState {
    let state = this.#states.get(operation);
    if (state === undefined) {
      state = new JitState(operation);
      this.#states.set(operation, state);
    }
    return state;
  }

  /** @returns undefined if they can't be coerced; graphql-js then reports the errors */
  #coerce(operation: Operation, raw: Variables): Variables | undefined {
    const known = this.#coerced.get(raw);
    if (known?.operation === operation) return known.variables;
    try {
      const variables = coerceVariables(this.#schema, operation, raw).coerced;
      if (variables !== undefined && isImmutable(raw, variables)) {
        this.#coerced.set(raw, { operation, variables: Object.freeze(variables) });
      }
      return variables;
    } catch {
      return undefined;
    }
  }

  #compiledFor(operation: Operation, state: JitState, variables: Variables): CompiledOperation | undefined {
    const specialization = state.specialization(variables);
    if (specialization === undefined || specialization.refused) return undefined;
    const known = this.#compiled.get(specialization);
    if (known !== undefined || specialization.runs++ < COMPILE_AFTER_RUNS) return known;
    if (!this.#rate.open) return undefined;
    try {
      const compiled = this.#compiler.compile(operation, variables);
      this.#rate.take(compiled.size);
      specialization.refused = !this.#compiled.set(specialization, compiled).has(specialization);
      this.counts.compiled++;
      return compiled;
    } catch (thrown) {
      specialization.refused = true;
      this.counts.refused++;
      this.#log.debug(
        { operation: operation.name, reason: messageOf(thrown) },
        'the operation is not compiled; graphql-js executes it',
      );
      return undefined;
    }
  }
}

/**
 * Coerced variables are kept only if neither they nor the raw ones can change. A resolver may write to an object among
 * the values, so variables that hold objects are coerced for each run.
 */
function isImmutable(raw: Variables, coerced: Variables): boolean {
  return Object.isFrozen(raw) && Object.values(coerced).every((value) => Object(value) !== value);
}
