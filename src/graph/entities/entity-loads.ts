import type { Backend } from '../api/backend.ts';
import type { GraphContext } from '../api/context.ts';
import { EntityRequest, identityOf, type Ask, type Asker } from './entity-request.ts';

/** Keeps the real `setImmediate`, since a test may install fake timers. */
const schedule = setImmediate;

/** Most fields of entities asked for in one request. */
const MAX_ASKS = 2_000;

/** One fetched field, for all executions that ask for it. */
class Load implements Asker {
  readonly ask: Ask;
  readonly promise: Promise<unknown>;
  readonly places = new Set<string>();
  /** Undefined until it has settled. */
  outcome: { readonly value: unknown } | { readonly reason: unknown } | undefined;
  isLost = false;
  #resolve!: (value: unknown) => void;
  #reject!: (reason: unknown) => void;

  constructor(ask: Ask) {
    this.ask = ask;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  settle(value: unknown): void {
    this.outcome = { value };
    this.#resolve(value);
  }

  lose(): void {
    this.isLost = true;
    this.#resolve(null);
  }

  fail(reason: unknown): void {
    this.outcome = { reason };
    this.#reject(reason);
  }
}

/**
 * What is asked for in one turn of the event loop, by back end: it leaves together at the turn's end, in one request for
 * each back end, however many executions and events ask.
 */
export class EntityBatches {
  readonly #waiting = new Map<string, { readonly backend: Backend; readonly loads: Load[] }>();
  #isScheduled = false;

  /** @param sharing equal for loads that may share a request */
  add(sharing: string, backend: Backend, load: Load): void {
    const batch = this.#waiting.get(sharing);
    if (batch === undefined) this.#waiting.set(sharing, { backend, loads: [load] });
    else batch.loads.push(load);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    schedule(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { backend, loads } of waiting) {
      for (let from = 0; from < loads.length; from += MAX_ASKS) {
        void send(backend, loads.slice(from, from + MAX_ASKS));
      }
    }
  };
}

/** Never rejects. */
async function send(backend: Backend, loads: readonly Load[]): Promise<void> {
  try {
    const request = new EntityRequest(loads);
    const { query, variables } = request;
    const options = { keys: 'KEEP', idempotent: true } as const;
    request.settle(await backend.post<unknown>('', { query, variables }, options));
  } catch (reason) {
    for (const load of loads) load.fail(reason);
  }
}

type BackendsByName = () => GraphContext['backends'];

let made = 0;

/** The fetched fields of one event, or of one execution: each is fetched once. */
export class EntityLoads {
  /** Different for all. */
  readonly id = made++;
  readonly #batches: EntityBatches;
  readonly #backends: BackendsByName;
  readonly #isShared: boolean;
  readonly #loads = new Map<string, Load>();

  /** @param isShared whether its requests may be those of other events, too: nothing of a viewer is forwarded */
  constructor(batches: EntityBatches, backends: BackendsByName, isShared: boolean) {
    this.#batches = batches;
    this.#backends = backends;
    this.#isShared = isShared;
  }

  /**
   * @param place the object of the result that shows the field
   * @returns what is there already, or a promise of it
   * @throws the reason why it could not be fetched; the promise rejects with it
   */
  load(ask: Ask, place: string): unknown {
    const identity = identityOf(ask);
    const known = this.#loads.get(identity);
    if (known?.outcome !== undefined) {
      if ('reason' in known.outcome) throw known.outcome.reason;
      return known.outcome.value;
    }
    if (known?.isLost === false) {
      known.places.add(place);
      return known.promise;
    }
    const { backend: name } = ask.source;
    const backend = this.#backends()[name];
    if (backend === undefined) throw new TypeError(`expected the back end ${name}, got none`);
    const load = new Load(ask);
    load.places.add(place);
    this.#loads.set(identity, load);
    this.#batches.add(this.#isShared ? name : `${this.id} ${name}`, backend, load);
    return load.promise;
  }
}

/** Where the resolvers of one execution fetch entities. */
export interface ExecutionLoads {
  /** From back ends that answer alike for all viewers. */
  readonly shared: EntityLoads;
  /** From back ends to which values of the viewer are forwarded. */
  readonly own: EntityLoads;
}

/** Under this symbol a context holds its ExecutionLoads. */
const LOADS = Symbol('ExecutionLoads');

export function setExecutionLoads(context: object, loads: ExecutionLoads): void {
  Object.defineProperty(context, LOADS, { value: loads, configurable: true });
}

/** @throws TypeError if the context has none */
export function executionLoadsOf(context: unknown): ExecutionLoads {
  const loads = (context as Readonly<Record<symbol, unknown>> | undefined)?.[LOADS];
  if (loads === undefined) throw new TypeError('expected a context that fetches entities, got another');
  return loads as ExecutionLoads;
}
