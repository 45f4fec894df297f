import { SluiceError } from '../errors.ts';
import type { BackendDefinition } from '../graph/api/backend-definition.ts';
import { BackendClient, type BackendServices } from './client.ts';
import { BackendsFacade, facadeClass, type BackendsCall } from './facade.ts';
import { backendSettings } from './settings.ts';
import type { Backend } from '../graph/api/backend.ts';

/** All back ends of a graph, with their connections, limits and circuit breakers. One for each gateway. */
export class Backends {
  readonly #clients: readonly BackendClient[];
  readonly #Facade: new (call: BackendsCall) => BackendsFacade;

  /** @throws SluiceError BAD_GRAPH: one message that lists every fault of the definitions */
  constructor(definitions: Readonly<Record<string, BackendDefinition>>, services: BackendServices) {
    const faults: string[] = [];
    const settings = Object.entries(definitions).map(([name, definition]) =>
      backendSettings(name, definition, faults),
    );
    if (faults.length > 0) {
      throw new SluiceError('BAD_GRAPH', `these back ends can't be used:\n${faults.join('\n')}`);
    }
    this.#clients = settings.map((each) => new BackendClient(each, services));
    this.#Facade = facadeClass(this.#clients);
  }

  /** Makes `ctx.backends` of one execution: one small object, and one more for each back end that a resolver uses. */
  bind(call: BackendsCall): Readonly<Record<string, Backend>> {
    return new this.#Facade(call) as unknown as Readonly<Record<string, Backend>>;
  }

  /** Aborts all calls with BACKEND_ABORTED and closes every connection. */
  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}
