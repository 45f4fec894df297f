import type { Backend } from '../graph/api/backend.ts';
import type { GraphContext, Loaders } from '../graph/api/context.ts';
import { ExecutionLoads, setExecutionLoads, type EntityLoads } from '../graph/entities/entity-loads.ts';
import type { Json, ReadSet } from '../lazy/reads.ts';
import { RecordedViewer, setRecordedViewer } from '../lazy/recorded-viewer.ts';
import { recording, type Recordable } from '../lazy/recorder.ts';
import type { GraphDefinition } from '../graph/api/define-graph.ts';
import type { SpanPlace } from '../tracing/span.ts';
import { setSpanOf } from '../tracing/traced-contexts.ts';

/** The part of Backends that scopes and executions use. */
export interface BackendBinder {
  bind(call: {
    viewer: () => unknown;
    signal: () => AbortSignal | undefined;
    span: () => SpanPlace | undefined;
  }): Readonly<Record<string, Backend>>;
}

/** The sources of contexts, the same for all events. */
export interface ContextSources {
  readonly code: Pick<GraphDefinition, 'loaders' | 'viewerLoaders' | 'primers' | 'context'>;
  readonly backends: BackendBinder;
  /** Whether fields of the graph are guarded by `@auth`, whose checks ask for the viewer. */
  readonly hasAuth: boolean;
}

/** The part of an execution's context that comes from its event. */
interface EventContext {
  readonly now: number;
  /** Read-only, like the values that loaders return: executions for other viewers get the same values. */
  readonly sharedLoaders: GraphContext['loaders'];
  readonly sharedPrimers: GraphContext['primers'];
  /** Undefined if the graph fetches no fields of entities. */
  readonly entityLoads: EntityLoads | undefined;
}

/**
 * The context of one execution, and the means to abort it. For a graph of any size, the constructor allocates this
 * object and one lazy object only: each value of the context is built when it is first read.
 */
export class Execution {
  /** `ctx` of the resolvers. */
  readonly context: GraphContext;
  #controller: AbortController | undefined;
  #aborted: Error | undefined;

  /**
   * @param viewer deep-frozen
   * @param reads records all that is read of the viewer
   * @param span of the execution, if it is sampled
   * @throws the error of the graph's own `context`, if that throws
   */
  constructor(
    { code, backends, hasAuth }: ContextSources,
    scope: EventContext,
    viewer: Json,
    reads: ReadSet,
    span: SpanPlace | undefined,
  ) {
    const viewerLoaders = (): Loaders => (code.viewerLoaders?.(base) ?? {}) as Loaders;
    const base: GraphContext = Proxy.lazy({
      viewer: recording(viewer as Recordable, reads) as GraphContext['viewer'],
      backends: backends.bind({ viewer: () => base.viewer, signal: () => base.signal, span: () => span }),
      loaders: scope.sharedLoaders,
      viewerLoaders: viewerLoaders(),
      primers: scope.sharedPrimers,
      now: scope.now,
      signal: this.#signal(),
    });
    const { entityLoads } = scope;
    if (entityLoads !== undefined) setExecutionLoads(base, new ExecutionLoads(entityLoads, base));
    if (hasAuth) setRecordedViewer(base, new RecordedViewer(viewer, reads));
    this.context = code.context === undefined ? base : extended(base, code.context(base));
    if (span !== undefined) setSpanOf(this.context, span);
  }

  abort(reason: Error): void {
    this.#aborted = reason;
    this.#controller?.abort(reason);
  }

  #signal(): AbortSignal {
    this.#controller = new AbortController();
    // If the signal is first read after the abort, the reader gets an aborted signal.
    if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    return this.#controller.signal;
  }
}

/** The base context with the graph's additions, which take precedence. Reads no value of either: both may be lazy. */
function extended(base: GraphContext, additions: object): GraphContext {
  return new Proxy(base, {
    get: (target, name) => Reflect.get(name in additions ? additions : target, name) as unknown,
    has: (target, name) => name in additions || name in target,
    ownKeys: (target) => [...new Set([...Reflect.ownKeys(target), ...Reflect.ownKeys(additions)])],
    getOwnPropertyDescriptor: (target, name) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(name in additions ? additions : target, name);
      return descriptor && { ...descriptor, configurable: true };
    },
  });
}
