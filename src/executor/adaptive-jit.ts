import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { Compiler, type CompiledOperation } from './compiler.ts';
import { interpret } from './interpret.ts';
import type { CompiledRun } from './jit-schema.ts';
import type { Operation } from './operation.ts';
import { JitState, type Specialization } from './program.ts';
import { coerceVariables, type Variables } from './variables.ts';

type MaybePromise<T> = T | Promise<T>;

/**
 * Compiling takes as long as about 11 runs on graphql-js (270 µs and 25 µs, 30 fields). Who compiles after as many runs
 * as that never spends more than twice of what was best, however often the operation runs.
 */
const COMPILE_AFTER_RUNS = 10;

interface Coerced {
  readonly operation: Operation;
  readonly variables: Variables;
}

/**
 * Runs operations on graphql-js at first, as compiled code when they turn out to be frequent.
 *
 * Compiled code is trusted only as long as nothing goes wrong: when it throws, rejects or has an error to report,
 * graphql-js runs the operation again, and its answer counts. So resolvers may be called twice for one event, which is
 * why mutations don't belong here.
 */
export class AdaptiveJit {
  readonly counts = { compiled: 0, refused: 0, rerun: 0 };
  readonly #schema: GraphQLSchema;
  readonly #log: Log;
  readonly #compiler: Compiler;
  readonly #programs = new WeakMap<Operation, JitState>();
  /** A group's variables are the same object with each of its events. */
  readonly #coerced = new WeakMap<Variables, Coerced>();
  /** Code that was not used for longest leaves first, and has to earn its compilation again. */
  readonly #compiled: LRUCache<Specialization, CompiledOperation>;

  /** @param maxFields fields for which code is kept, over all operations; about 1.2 KB each */
  constructor(schema: GraphQLSchema, maxFields: number, log: Log) {
    this.#schema = schema;
    this.#log = log;
    this.#compiler = new Compiler(schema);
    this.#compiled = new LRUCache({
      maxSize: maxFields,
      sizeCalculation: ({ size }) => size + 1,
      dispose: (_, form) => {
        form.runs = 0;
      },
    });
  }

  /** Never throws, never rejects. */
  execute(
    operation: Operation,
    rootValue: unknown,
    context: unknown,
    raw: Variables,
  ): MaybePromise<ExecutionResult> {
    const program = this.#programOf(operation);
    const variables = program.abandoned ? undefined : this.#coerce(operation, raw);
    const compiled = variables && this.#compiledFor(operation, program, variables);
    if (variables === undefined || compiled === undefined) {
      return interpret(this.#schema, operation, rootValue, context, raw);
    }

    program.countRun();
    const run: CompiledRun = { context, variables };
    try {
      const result = compiled.execute(rootValue, run);
      if (!(result instanceof Promise)) {
        return result.errors ? this.#again(operation, program, rootValue, context, raw) : result;
      }
      const again = (): MaybePromise<ExecutionResult> =>
        this.#again(operation, program, rootValue, context, raw);
      return result.then((late) => (late.errors ? again() : late), again);
    } catch {
      return this.#again(operation, program, rootValue, context, raw);
    }
  }

  #again(
    operation: Operation,
    program: JitState,
    rootValue: unknown,
    context: unknown,
    raw: Variables,
  ): MaybePromise<ExecutionResult> {
    this.counts.rerun++;
    program.countFallback();
    return interpret(this.#schema, operation, rootValue, context, raw);
  }

  #programOf(operation: Operation): JitState {
    let program = this.#programs.get(operation);
    if (program === undefined) {
      program = new JitState(operation);
      this.#programs.set(operation, program);
    }
    return program;
  }

  /** @returns undefined where graphql-js has to say what is wrong with them */
  #coerce(operation: Operation, raw: Variables): Variables | undefined {
    const known = this.#coerced.get(raw);
    if (known?.operation === operation) return known.variables;
    try {
      const variables = coerceVariables(this.#schema, operation, raw).coerced;
      if (variables !== undefined && isLasting(raw, variables)) {
        this.#coerced.set(raw, { operation, variables: Object.freeze(variables) });
      }
      return variables;
    } catch {
      return undefined;
    }
  }

  #compiledFor(operation: Operation, program: JitState, variables: Variables): CompiledOperation | undefined {
    const form = program.specialization(variables);
    if (form === undefined || form.refused) return undefined;
    const known = this.#compiled.get(form);
    if (known !== undefined || form.runs++ < COMPILE_AFTER_RUNS) return known;
    try {
      const compiled = this.#compiler.compile(operation, variables);
      form.refused = !this.#compiled.set(form, compiled).has(form);
      this.counts.compiled++;
      return compiled;
    } catch (thrown) {
      form.refused = true;
      this.counts.refused++;
      this.#log.debug({ operation: operation.name, reason: messageOf(thrown) }, 'runs uncompiled');
      return undefined;
    }
  }
}

/** Neither can change: objects among the values are a resolver's to write to, so each run gets its own. */
function isLasting(raw: Variables, coerced: Variables): boolean {
  return Object.isFrozen(raw) && Object.values(coerced).every((value) => Object(value) !== value);
}
