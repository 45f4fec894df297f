import type { Backend } from '../graph/api/backend.ts';
import type { GraphContext, Loaders } from '../graph/api/context.ts';
import type { Json, ReadSet } from '../lazy/reads.ts';
import { recording, type Recordable } from '../lazy/recorder.ts';
import type { GraphDefinition } from '../graph/api/define-graph.ts';

/** What scopes and executions need of the back ends; see Backends. */
export interface BackendBinder {
  bind(call: {
    viewer: () => unknown;
    signal: () => AbortSignal | undefined;
  }): Readonly<Record<string, Backend>>;
}

/** What contexts are made from, whatever the event. */
export interface Makings {
  readonly code: Pick<GraphDefinition, 'loaders' | 'viewerLoaders' | 'primers' | 'context'>;
  readonly backends: BackendBinder;
}

/** What an execution takes over from its event. */
type EventContext = Pick<GraphContext, 'loaders' | 'primers' | 'now'>;

/**
 * One execution: its context, and the means to give it up. Whatever the size of the graph, making one makes this and
 * one lazy object: each value of the context is made when it is first read.
 */
export class Execution {
  /** `ctx` of the resolvers. */
  readonly context: GraphContext;
  #controller: AbortController | undefined;
  #aborted: Error | undefined;

  /**
   * @param viewer deep-frozen
   * @param reads gets all that is read of it
   * @throws whatever the graph's own `context` throws
   */
  constructor({ code, backends }: Makings, scope: EventContext, viewer: Json, reads: ReadSet) {
    const viewerLoaders = (): Loaders => (code.viewerLoaders?.(base) ?? {}) as Loaders;
    const base: GraphContext = Proxy.lazy({
      viewer: recording(viewer as Recordable, reads) as GraphContext['viewer'],
      backends: backends.bind({ viewer: () => base.viewer, signal: () => base.signal }),
      loaders: scope.loaders,
      viewerLoaders: viewerLoaders(),
      primers: scope.primers,
      now: scope.now,
      signal: this.#signal(),
    });
    this.context = code.context === undefined ? base : extended(base, code.context(base));
  }

  abort(reason: Error): void {
    this.#aborted = reason;
    this.#controller?.abort(reason);
  }

  #signal(): AbortSignal {
    this.#controller = new AbortController();
    // Who looks only now must not begin anything either.
    if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    return this.#controller.signal;
  }
}

/** The base with a graph's own values in front. Neither is touched: both may be lazy. */
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
