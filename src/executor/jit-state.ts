import { Kind, visit } from 'graphql';
import type { Operation } from './operation.ts';
import type { Variables } from './variables.ts';

/** Outcomes of @skip and @include that are compiled separately, per operation; further ones run on graphql-js. */
const MAX_SPECIALIZATIONS = 8;

/**
 * Only graphql-js reports errors, so a compiled run with an error costs a second execution. An operation that falls
 * back more often than once in ten runs is not run compiled any more; the first ten fallbacks are allowed in any case.
 */
const FALLBACKS_ALLOWED = 10;
const RUNS_PER_FALLBACK = 10;

/** One operation for one outcome of its @skip and @include conditions: the unit that is compiled. */
export interface Specialization {
  /** How often graphql-js has run it since it was last compiled. */
  runs: number;
  /** It can't be compiled. */
  refused: boolean;
}

/**
 * What AdaptiveJit keeps of one operation: its specializations, and how often compiled code fell back to graphql-js.
 */
export class JitState {
  /** Compiled code fell back too often: graphql-js executes this operation from now on. */
  interpretOnly = false;
  readonly #conditions: readonly string[];
  readonly #specializations = new Map<string, Specialization>();
  #compiledRuns = 0;
  #fallbacks = 0;

  constructor(operation: Operation) {
    this.#conditions = conditionVariables(operation);
  }

  /**
   * @param variables coerced
   * @returns undefined if the variable of a condition is not a boolean (graphql-js reports the error), or for a new outcome
   *   once MAX_SPECIALIZATIONS are kept
   */
  specialization(variables: Variables): Specialization | undefined {
    let outcome = '';
    for (const name of this.#conditions) {
      const value = variables[name];
      if (typeof value !== 'boolean') return undefined;
      outcome += value ? '1' : '0';
    }
    let specialization = this.#specializations.get(outcome);
    if (specialization === undefined && this.#specializations.size < MAX_SPECIALIZATIONS) {
      specialization = { runs: 0, refused: false };
      this.#specializations.set(outcome, specialization);
    }
    return specialization;
  }

  /** Called when a run of compiled code begins. */
  countCompiledRun(): void {
    this.#compiledRuns++;
  }

  /** Called when compiled code failed and graphql-js executes the operation a second time. */
  countFallback(): void {
    this.#fallbacks++;
    this.interpretOnly ||=
      this.#fallbacks > FALLBACKS_ALLOWED && this.#fallbacks * RUNS_PER_FALLBACK > this.#compiledRuns;
  }
}

/** Names of the variables that @skip and @include read, anywhere in the document. */
function conditionVariables({ document }: Operation): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive({ name, arguments: given = [] }) {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
}
