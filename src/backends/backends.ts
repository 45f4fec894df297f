import { SluiceError } from '../errors.ts';
import type { BackendDefinition } from '../graph/api/backend-definition.ts';
import { BackendClient, type BackendServices, type Caller } from './client.ts';
import { backendSettings } from './settings.ts';
import type { Backend, RequestOptions } from '../graph/api/backend.ts';
import type { SpanPlace } from '../tracing/span.ts';
import { randomBytes } from 'node:crypto';

/** All back ends of a graph, with their connections, limits and circuit breakers. */
export class Backends {
  readonly #services: BackendServices;
  readonly #clients: readonly BackendClient[];
  readonly #Facade: new (call: BackendsCall) => BackendsFacade;

  /**
   * @param before back ends of the graph to be replaced: those with an equal definition keep their clients
   * @throws SluiceError BAD_GRAPH: one message that lists every fault of the definitions
   */
  constructor(
    definitions: Readonly<Record<string, BackendDefinition>>,
    services: BackendServices,
    before?: Backends,
  ) {
    this.#services = services;
    const faults: string[] = [];
    const settings = Object.entries(definitions).map(([name, definition]) =>
      backendSettings(name, definition, faults),
    );
    if (faults.length > 0) {
      throw new SluiceError('BAD_GRAPH', `these back ends can't be used:\n${faults.join('\n')}`);
    }
    const known = before === undefined ? [] : before.#clients;
    this.#clients = settings.map(
      (each) => known.find((client) => client.isOf(each)) ?? new BackendClient(each, services),
    );
    this.#Facade = facadeClass(this.#clients);
  }

  /** Makes `ctx.backends` of one execution: one small object, and one more for each back end that a resolver uses. */
  bind(call: BackendsCall): Readonly<Record<string, Backend>> {
    return new this.#Facade(call) as unknown as Readonly<Record<string, Backend>>;
  }

  /**
   * Aborts all calls with BACKEND_ABORTED and closes every connection.
   *
   * @param after back ends of the graph that has replaced this one: the clients that they share stay open
   */
  async close(after?: Backends): Promise<void> {
    const staying = after === undefined ? [] : after.#clients;
    const closing = this.#clients.filter((client) => !staying.includes(client));
    await Promise.all(closing.map((client) => client.close()));
    const names = new Set(staying.map(({ name }) => name));
    for (const { name } of closing) {
      // The metric would otherwise show the open circuit of a removed back end for ever.
      if (!names.has(name)) this.#services.metrics.backendBreakerOpen.set({ backend: name }, 0);
    }
  }
}

/** The part of an execution, or of an event, that its `ctx.backends` uses. */
interface BackendsCall {
  /** Called only for back ends that forward viewer values, since reading the viewer is recorded. */
  readonly viewer: () => unknown;
  readonly signal: () => AbortSignal | undefined;
  /** The span under which the calls are traced; undefined: they are not sampled. */
  readonly span?: () => SpanPlace | undefined;
}

/**
 * `ctx.backends` of one execution. Every execution makes a facade, so only one field is set until a resolver reads a
 * back end. The back ends are getters on the prototype of a subclass that facadeClass makes once for each loaded graph.
 */
class BackendsFacade {
  static {
    // The prototype does not inherit from Object's, so that any name that is not a back end's is undefined.
    Object.setPrototypeOf(this.prototype, null);
  }

  readonly #call: BackendsCall;
  #used: UsedBackends | undefined;

  constructor(call: BackendsCall) {
    this.#call = call;
  }

  /** Static, so that it does not occupy a back end's name. */
  static use(facade: BackendsFacade, client: BackendClient): Backend {
    facade.#used ??= new UsedBackends(facade.#call);
    return facade.#used.of(client);
  }
}

function facadeClass(clients: readonly BackendClient[]): new (call: BackendsCall) => BackendsFacade {
  class Facade extends BackendsFacade {}
  for (const client of clients) {
    Object.defineProperty(Facade.prototype, client.name, {
      enumerable: true,
      get(this: BackendsFacade): Backend {
        return BackendsFacade.use(this, client);
      },
    });
  }
  Object.freeze(Facade.prototype);
  return Facade;
}

/** The back ends that one execution has used. */
class UsedBackends implements Caller {
  readonly #call: BackendsCall;
  readonly #backends: BoundBackend[] = [];
  #trace: RandomTrace | undefined;

  constructor(call: BackendsCall) {
    this.#call = call;
  }

  /** Returns the same object each time. The search is linear, since an execution uses few back ends. */
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

  span(): SpanPlace | undefined {
    return this.#call.span?.();
  }

  traceparent(flags: string): string {
    this.#trace ??= new RandomTrace();
    return this.#trace.next(flags);
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

/** A trace (W3C Trace Context) of calls without a recorded span. Each call gets its own span id. */
class RandomTrace {
  readonly #id = randomBytes(16).toString('hex');

  /** @param flags the last part: `01` is sampled @returns the value of the traceparent header for the next call */
  next(flags: string): string {
    return `00-${this.#id}-${randomBytes(8).toString('hex')}-${flags}`;
  }
}
