import { SluiceError } from '../errors.ts';
import type { BackendDefinition } from '../graph/api/backend-definition.ts';
import { BackendClient, type BackendServices } from './client.ts';
import { BackendsFacade, facadeClass, type BackendsCall } from './facade.ts';
import { backendSettings } from './settings.ts';
import type { Backend } from '../graph/api/backend.ts';

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
