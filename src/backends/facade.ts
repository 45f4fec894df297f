import type { BackendClient, Caller } from './client.ts';
import type { Backend, RequestOptions } from '../graph/api/backend.ts';
import { Trace } from './traceparent.ts';

/** On whose behalf an execution calls back ends. */
export interface BackendsCall {
  /** Called only by back ends that forward something, since reading is recorded. */
  readonly viewer: () => unknown;
  readonly signal: () => AbortSignal | undefined;
  /** W3C; the execution's calls are children of it. */
  readonly traceparent?: string | undefined;
}

/**
 * `ctx.backends` of one execution, made for each of millions: it holds nothing but the call until a back end is touched.
 * The back ends are getters on the prototype of a subclass that facadeClass makes once for each gateway.
 */
export class BackendsFacade {
  static {
    // Nothing is inherited from Object: a name that is no back end is undefined.
    Object.setPrototypeOf(this.prototype, null);
  }

  readonly #call: BackendsCall;
  #touched: TouchedBackends | undefined;

  constructor(call: BackendsCall) {
    this.#call = call;
  }

  /** Static, so that a back end may have any name. */
  static touch(facade: BackendsFacade, client: BackendClient): Backend {
    facade.#touched ??= new TouchedBackends(facade.#call);
    return facade.#touched.of(client);
  }
}

export function facadeClass(clients: readonly BackendClient[]): new (call: BackendsCall) => BackendsFacade {
  class Facade extends BackendsFacade {}
  for (const client of clients) {
    Object.defineProperty(Facade.prototype, client.name, {
      enumerable: true,
      get(this: BackendsFacade): Backend {
        return BackendsFacade.touch(this, client);
      },
    });
  }
  return Facade;
}

/** What an execution that calls back ends has of them. */
class TouchedBackends implements Caller {
  readonly #call: BackendsCall;
  readonly #backends: BoundBackend[] = [];
  #trace: Trace | undefined;

  constructor(call: BackendsCall) {
    this.#call = call;
  }

  /** The same object each time. A walk, since an execution touches few. */
  of(client: BackendClient): Backend {
    for (const backend of this.#backends) if (backend.client === client) return backend;
    const backend = new BoundBackend(client, this);
    this.#backends.push(backend);
    return backend;
  }

  viewer(): unknown {
    return this.#call.viewer();
  }

  signal(): AbortSignal | undefined {
    return this.#call.signal();
  }

  traceparent(): string {
    this.#trace ??= new Trace(this.#call.traceparent);
    return this.#trace.next();
  }
}

class BoundBackend implements Backend {
  readonly client: BackendClient;
  readonly #caller: Caller;

  constructor(client: BackendClient, caller: Caller) {
    this.client = client;
    this.#caller = caller;
  }

  get<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.client.request(this.#caller, { method: 'GET', path, options }) as Promise<T>;
  }

  delete<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.client.request(this.#caller, { method: 'DELETE', path, options }) as Promise<T>;
  }

  post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.client.request(this.#caller, { method: 'POST', path, body, options }) as Promise<T>;
  }

  put<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.client.request(this.#caller, { method: 'PUT', path, body, options }) as Promise<T>;
  }

  patch<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.client.request(this.#caller, { method: 'PATCH', path, body, options }) as Promise<T>;
  }
}
