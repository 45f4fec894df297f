import { Kind, visit } from 'graphql';
import type { Operation } from './operation.ts';
import type { Variables } from './variables.ts';

/** Outcomes of @skip and @include that are compiled, each for itself; further ones run on graphql-js. */
const MAX_SPECIALIZATIONS = 8;

/** Errors are graphql-js's to report, at the price of a second execution: who often has some is left to it at once. */
const FALLBACKS_ALLOWED = 10;
const RUNS_PER_FALLBACK = 10;

/** An operation for one outcome of its conditions. */
export interface Specialization {
  /** How often graphql-js has run it since it was last compiled. */
  runs: number;
  /** It can't be compiled. */
  refused: boolean;
}

/** How one operation is run. */
export class JitState {
  /** Left to graphql-js for good, as its errors are too frequent. */
  abandoned = false;
  readonly #conditions: readonly string[];
  readonly #forms = new Map<string, Specialization>();
  #runs = 0;
  #reruns = 0;

  constructor(operation: Operation) {
    this.#conditions = conditionVariables(operation);
  }

  /**
   * @param variables coerced
   * @returns undefined where they leave a condition open (graphql-js says what is wrong), or past MAX_FORMS
   */
  specialization(variables: Variables): Specialization | undefined {
    let outcome = '';
    for (const name of this.#conditions) {
      const value = variables[name];
      if (typeof value !== 'boolean') return undefined;
      outcome += value ? '1' : '0';
    }
    let form = this.#forms.get(outcome);
    if (form === undefined && this.#forms.size < MAX_SPECIALIZATIONS) {
      form = { runs: 0, refused: false };
      this.#forms.set(outcome, form);
    }
    return form;
  }

  /** Compiled code begins to run. */
  countRun(): void {
    this.#runs++;
  }

  /** Compiled code failed, so that graphql-js runs the same again. */
  countFallback(): void {
    this.#reruns++;
    this.abandoned ||= this.#reruns > FALLBACKS_ALLOWED && this.#reruns * RUNS_PER_FALLBACK > this.#runs;
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
