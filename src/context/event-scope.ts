import type { Backend } from '../graph/api/backend.ts';
import type { GraphContext, Loaders, Primer, SharedContext } from '../graph/api/context.ts';
import { ReadSet, type Json } from '../lazy/reads.ts';
import { Execution, type BackendBinder, type Makings } from './execution.ts';
import { primed } from './primers.ts';

/** Makes contexts; one for each gateway. */
export class Contexts implements Makings {
  readonly code: Makings['code'];
  readonly backends: BackendBinder;
  readonly now: () => number;

  /** @param now ms */
  constructor(code: Makings['code'], backends: BackendBinder, now: () => number) {
    this.code = code;
    this.backends = backends;
    this.now = now;
  }

  scopeOf(event: unknown): EventScope {
    return new EventScope(this, event);
  }

  /**
   * The context of a query or mutation, which belongs to no event and is shared with no other.
   *
   * @param viewer deep-frozen
   * @throws whatever the graph's own `context` throws
   */
  queryContext(viewer: Json): GraphContext {
    return this.scopeOf(undefined).execution(viewer, new ReadSet()).context;
  }
}

const HINT =
  'loaders and primers are shared by all viewers of an event, so there is no viewer in their context: ' +
  'what depends on the viewer belongs in viewerLoaders, or in a resolver';

/** Aborted by nothing: what an event's executions share must outlive each of them. */
const NEVER_ABORTED = new AbortController().signal;

/**
 * One event in this pod: what all its executions have in common. Loaders live as long as the event, so that nobody
 * sees values from before it, and everybody shares what is fetched for it. Nothing is made until it is read.
 */
export class EventScope implements SharedContext {
  readonly now: number;
  readonly #contexts: Contexts;
  readonly #event: unknown;
  #backends: Readonly<Record<string, Backend>> | undefined;
  #loaders: Loaders | undefined;
  #primers: Readonly<Record<string, Primer>> | undefined;

  constructor(contexts: Contexts, event: unknown) {
    this.#contexts = contexts;
    this.#event = event;
    this.now = contexts.now();
  }

  /**
   * @param reads gets all that the execution reads of the viewer
   * @throws whatever the graph's own `context` throws
   */
  execution(viewer: Json, reads: ReadSet): Execution {
    return new Execution(this.#contexts, this, viewer, reads);
  }

  get viewer(): never {
    throw new TypeError(HINT);
  }

  get signal(): AbortSignal {
    return NEVER_ABORTED;
  }

  get backends(): Readonly<Record<string, Backend>> {
    this.#backends ??= this.#contexts.backends.bind({ viewer: () => this.viewer, signal: () => undefined });
    return this.#backends;
  }

  get loaders(): Loaders {
    this.#loaders ??= this.#makeLoaders();
    return this.#loaders;
  }

  get primers(): Readonly<Record<string, Primer>> {
    this.#primers ??= this.#contexts.code.primers?.(this) ?? {};
    return this.#primers;
  }

  #makeLoaders(): Loaders {
    const { loaders, primers } = this.#contexts.code;
    const made = (loaders?.(this) ?? {}) as Loaders;
    return primers === undefined ? made : primed(made, () => this.primers, this.#event);
  }
}
