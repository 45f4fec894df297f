import { LRUCache } from 'lru-cache';
import type { Contexts, EventScope } from '../context/event-scope.ts';
import type { Message } from '../events/message.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** Copies of an event on several channels come one behind the other. */
const MAX_SCOPES = 64;

/** The scopes of the last events, so that an event that comes on several channels has one set of loaders. */
export class RecentScopes {
  readonly #contexts: Contexts;
  readonly #scopes = new LRUCache<string, EventScope>({ max: MAX_SCOPES });

  constructor(contexts: Contexts) {
    this.#contexts = contexts;
  }

  /** @param tracing where its spans begin; undefined: no spans are recorded of it */
  of(message: Message, tracing?: Tracing): EventScope {
    const { t, id, p, o, ts } = message;
    // Only loaders make it worth while to find the same scope again.
    if (this.#contexts.code.loaders === undefined) return this.#scopeOf(message, tracing);
    const position = `${t}/${id}/${p}/${o}/${ts}`;
    const known = this.#scopes.get(position);
    if (known !== undefined) return known;
    const scope = this.#scopeOf(message, tracing);
    this.#scopes.set(position, scope);
    return scope;
  }

  #scopeOf(message: Message, tracing: Tracing | undefined): EventScope {
    const { event, traceparent } = message;
    return this.#contexts.scopeOf(event, traceparent === undefined ? undefined : tracing?.continued(message));
  }
}
