import type { Backend } from '../graph/api/backend.ts';
import type { Loaders, Primer, SharedContext } from '../graph/api/context.ts';
import type { TracedFetch } from '../events/trace.ts';
import { EntityBatches, EntityLoads } from '../graph/entities/entity-loads.ts';
import type { Graph } from '../graph/graph.ts';
import { shareLoaders, sharePrimers } from '../lazy/share.ts';
import { ReadSet, type Json } from '../lazy/reads.ts';
import type { SpanPlace } from '../tracing/span.ts';
import { Execution, type BackendBinder, type ContextSources } from './execution.ts';
import { primed } from './primers.ts';

/** Makes the contexts of one gateway. */
export class Contexts implements ContextSources {
  readonly code: ContextSources['code'];
  readonly backends: BackendBinder;
  readonly now: () => number;
  readonly hasAuth: boolean;
  /** Collects what executions fetch; undefined if the graph fetches no fields of entities. */
  readonly entities: EntityBatches | undefined;

  /**
   * @param now ms since 1970
   * @param graph whether its fields are guarded by `@auth`, or fetched for entities
   */
  constructor(
    code: ContextSources['code'],
    backends: BackendBinder,
    now: () => number,
    { hasAuth, hasEntities }: Pick<Graph, 'hasAuth' | 'hasEntities'> = { hasAuth: false },
  ) {
    this.code = code;
    this.backends = backends;
    this.now = now;
    this.hasAuth = hasAuth;
    this.entities = hasEntities === true ? new EntityBatches(now) : undefined;
  }

  /** @param span that the event comes from; undefined: the event is not sampled */
  scopeOf(event: unknown, span?: SpanPlace): EventScope {
    return new EventScope(this, event, span);
  }

  /**
   * The execution of a query or mutation, which belongs to no event and shares nothing with other executions.
   *
   * @param viewer deep-frozen
   * @param span of the execution, if it is sampled
   * @throws the error of the graph's own `context`, if that throws
   */
  queryExecution(viewer: Json, span?: SpanPlace): Execution {
    return this.scopeOf(undefined).execution(viewer, new ReadSet(), span);
  }
}

const HINT =
  'loaders and primers are shared by all viewers of an event, so there is no viewer in their context: ' +
  'what depends on the viewer belongs in viewerLoaders, or in a resolver';

const NO_FETCHES: readonly TracedFetch[] = [];

/** Never aborted: a call that several executions of an event share must not end with one of them. */
const NEVER_ABORTED = new AbortController().signal;

/**
 * The context that all executions of one event in this pod share. Loaders live as long as the event, so that no
 * execution sees values from before the event, and all share the fetched values. Loaders and primers themselves use
 * this context; executions get read-only views. Each property is built when it is first read.
 */
export class EventScope implements SharedContext {
  readonly now: number;
  /** The span that the event comes from; undefined: the event is not sampled. */
  readonly span: SpanPlace | undefined;
  readonly #contexts: Contexts;
  readonly #event: unknown;
  /** The span of the execution that began last: the parent of loaders' calls, which executions share. */
  #latest: SpanPlace | undefined;
  #backends: Readonly<Record<string, Backend>> | undefined;
  #entityLoads: EntityLoads | undefined;
  #loaders: Loaders | undefined;
  #primers: Readonly<Record<string, Primer>> | undefined;
  #sharedLoaders: Loaders | undefined;
  #sharedPrimers: Readonly<Record<string, Primer>> | undefined;

  constructor(contexts: Contexts, event: unknown, span?: SpanPlace) {
    this.#contexts = contexts;
    this.#event = event;
    this.span = span;
    this.#latest = span;
    this.now = contexts.now();
  }

  /**
   * @param viewer deep-frozen
   * @param reads records all that the execution reads of the viewer
   * @param span of the execution, if it is sampled
   * @throws the error of the graph's own `context`, if that throws
   */
  execution(viewer: Json, reads: ReadSet, span?: SpanPlace): Execution {
    if (span !== undefined) this.#latest = span;
    return new Execution(this.#contexts, this, viewer, reads, span);
  }

  get viewer(): never {
    throw new TypeError(HINT);
  }

  get signal(): AbortSignal {
    return NEVER_ABORTED;
  }

  get backends(): Readonly<Record<string, Backend>> {
    this.#backends ??= this.#contexts.backends.bind({
      viewer: () => this.viewer,
      signal: () => undefined,
      span: () => this.#latest,
    });
    return this.#backends;
  }

  get entityLoads(): EntityLoads | undefined {
    const { entities } = this.#contexts;
    if (entities === undefined) return undefined;
    this.#entityLoads ??= new EntityLoads(entities, () => this.backends);
    return this.#entityLoads;
  }

  /** The requests for fields of entities so far. */
  get fetches(): readonly TracedFetch[] {
    return this.#entityLoads?.fetches ?? NO_FETCHES;
  }

  get loaders(): Loaders {
    this.#loaders ??= this.#makeLoaders();
    return this.#loaders;
  }

  get primers(): Readonly<Record<string, Primer>> {
    this.#primers ??= this.#contexts.code.primers?.(this) ?? {};
    return this.#primers;
  }

  get sharedLoaders(): Loaders {
    this.#sharedLoaders ??= shareLoaders(this.loaders);
    return this.#sharedLoaders;
  }

  get sharedPrimers(): Readonly<Record<string, Primer>> {
    this.#sharedPrimers ??= sharePrimers(this.primers);
    return this.#sharedPrimers;
  }

  #makeLoaders(): Loaders {
    const { loaders, primers } = this.#contexts.code;
    const made = (loaders?.(this) ?? {}) as Loaders;
    return primers === undefined ? made : primed(made, () => this.primers, this.#event);
  }
}
