import type { Backend } from '../api/backend.ts';
import type { GraphContext } from '../api/context.ts';
import { messageOf } from '../../errors.ts';
import type { TracedFetch } from '../../events/trace.ts';
import { faultIn } from './remote-answer.ts';
import { EntityRequest, identityOf, type Ask, type Asker } from './entity-request.ts';

/** Keeps the real `setImmediate`, since a test may install fake timers. */
const schedule = setImmediate;

/** Most fields of entities asked for in one request. */
const MAX_ASKS = 2_000;

/** Most requests of one event that are noted, and most entities of each that have failed. */
const MAX_NOTED = 20;
const MAX_FAILED = 5;

/** Most characters of a text that names one. */
const MAX_TEXT = 500;

/** One fetched field, for all executions that ask for it. */
class Load implements Asker {
  readonly ask: Ask;
  readonly owner: EntityLoads;
  readonly promise: Promise<unknown>;
  readonly places = new Set<string>();
  /** Undefined until it has settled. */
  outcome: { readonly value: unknown } | { readonly reason: unknown } | undefined;
  isLost = false;
  #resolve!: (value: unknown) => void;
  #reject!: (reason: unknown) => void;

  /** @param owner the first that has asked for it */
  constructor(ask: Ask, owner: EntityLoads) {
    this.ask = ask;
    this.owner = owner;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The entity, by type and key, and why the field could not be had. */
  get failure(): string | undefined {
    if (this.outcome === undefined) return undefined;
    const message = 'value' in this.outcome ? faultIn(this.outcome.value) : messageOf(this.outcome.reason);
    const { entity, values } = this.ask;
    return message === undefined
      ? undefined
      : `${entity.type.name} ${JSON.stringify(values)}: ${message}`.slice(0, MAX_TEXT);
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
  const begun = performance.now();
  try {
    const request = new EntityRequest(loads);
    const { query, variables } = request;
    const options = { keys: 'KEEP', idempotent: true } as const;
    request.settle(await backend.post<unknown>('', { query, variables }, options));
  } catch (reason) {
    for (const load of loads) load.fail(reason);
  }
  // Before those who wait go on, in microtasks.
  const ms = performance.now() - begun;
  const owners = new Map<EntityLoads, Load[]>();
  for (const load of loads) {
    const own = owners.get(load.owner);
    if (own === undefined) owners.set(load.owner, [load]);
    else own.push(load);
  }
  for (const [owner, own] of owners) owner.note(own, ms);
}

type BackendsByName = () => GraphContext['backends'];

let made = 0;

/** The fetched fields of one event, or of one execution: each is fetched once. */
export class EntityLoads {
  /** Different for all. */
  readonly id = made++;
  readonly #batches: EntityBatches;
  readonly #backends: BackendsByName;
  readonly #event: EntityLoads | undefined;
  readonly #fetches: TracedFetch[];
  readonly #loads = new Map<string, Load>();

  /** @param event what its executions share; undefined: this is it, and its requests may be those of other events, too */
  constructor(batches: EntityBatches, backends: BackendsByName, event?: EntityLoads) {
    this.#batches = batches;
    this.#backends = backends;
    this.#event = event;
    this.#fetches = event === undefined ? [] : event.#fetches;
  }

  /** The requests of the event so far; of very many, the first. */
  get fetches(): readonly TracedFetch[] {
    return this.#fetches;
  }

  /** @param loads its own of one request, which have settled */
  note(loads: readonly Load[], ms: number): void {
    const [first] = loads;
    if (first === undefined || this.#fetches.length >= MAX_NOTED) return;
    const failed = loads.flatMap((load) => load.failure ?? []).slice(0, MAX_FAILED);
    this.#fetches.push({ backend: first.ask.source.backend, fields: loads.length, ms, failed });
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
    const load = new Load(ask, this);
    load.places.add(place);
    this.#loads.set(identity, load);
    this.#batches.add(this.#event === undefined ? name : `${this.id} ${name}`, backend, load);
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
