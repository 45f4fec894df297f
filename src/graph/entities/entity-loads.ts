import { GraphQLError } from 'graphql';
import type { Json } from '../../lazy/reads.ts';
import type { Backend } from '../api/backend.ts';
import type { GraphContext } from '../api/context.ts';
import { messageOf } from '../../errors.ts';
import type { TracedFetch } from '../../events/trace.ts';
import { faultIn, holdsFault } from './remote-answer.ts';
import { KeptEntities } from './kept-entities.ts';
import { EntityRequest, identityOf, RequestRefused, type Ask, type Asker } from './entity-request.ts';

/** Keeps the real `setImmediate`, since a test may install fake timers. */
const schedule = setImmediate;

/** Most fields of entities asked for in one request. */
const MAX_ASKS = 2_000;

/** How often a refused request is halved: a back end that refuses everything is asked 63 times at most. */
const MAX_HALVINGS = 5;

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
  /** Objects of results that are null, so that its value is not asked for there; who else asks has to ask anew. */
  lostAt: ReadonlySet<string> | undefined;
  isAlone = false;
  /** Called with a value without errors. */
  onValue: ((value: unknown) => void) | undefined;
  readonly #again: (load: Load) => void;
  #resolve!: (value: unknown) => void;
  #reject!: (reason: unknown) => void;

  /**
   * @param owner the first that has asked for it
   * @param again asks for it once more
   */
  constructor(ask: Ask, owner: EntityLoads, again: (load: Load) => void) {
    this.ask = ask;
    this.owner = owner;
    this.#again = again;
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
    this.places.clear();
    if (this.onValue !== undefined && !holdsFault(value)) this.onValue(value);
    this.#resolve(value);
  }

  lose(failed: ReadonlySet<string>): void {
    if ([...this.places].every((place) => failed.has(place))) {
      this.lostAt = failed;
      this.#resolve(null);
    } else if (this.isAlone) {
      this.fail(new Error('expected a value of the field, got none'));
    } else {
      this.isAlone = true;
      this.#again(this);
    }
  }

  fail(reason: unknown): void {
    if (this.outcome !== undefined || this.lostAt !== undefined) return;
    this.outcome = { reason };
    this.places.clear();
    this.#reject(reason);
  }
}

/**
 * Collects the fields that are asked for in one turn of the event loop, by back end. They leave together at the turn's end,
 * in one request for each back end, however many executions and events ask.
 */
export class EntityBatches {
  readonly kept: KeptEntities;
  readonly #waiting = new Map<string, { readonly backend: Backend; readonly loads: Load[] }>();
  #isScheduled = false;

  /** @param now ms, of the clock by which what is kept gets old */
  constructor(now: () => number) {
    this.kept = new KeptEntities(now);
  }

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

/**
 * Never rejects. If the back end refuses the whole request, it is sent in two halves: a selection of one client that the
 * back end does not take must not fail what others ask for.
 *
 * @param depth how often it has been halved
 */
async function send(backend: Backend, loads: readonly Load[], depth = 0): Promise<void> {
  const begun = performance.now();
  let request: EntityRequest | undefined;
  let reason: unknown;
  try {
    request = new EntityRequest(loads);
    const { query, variables } = request;
    const options = { keys: 'KEEP', idempotent: true } as const;
    reason = request.settle(await backend.post<unknown>('', { query, variables }, options));
  } catch (thrown) {
    reason = thrown;
  }
  if (reason !== undefined) {
    const isHalved = depth < MAX_HALVINGS && isOfDocument(reason);
    const halves = isHalved ? (request?.halves() ?? []) : [];
    if (halves.length > 0) {
      await Promise.all(halves.map((half) => send(backend, half as readonly Load[], depth + 1)));
      return;
    }
    for (const load of loads) load.fail(reason);
  }
  // Before those who wait go on, in microtasks.
  note(loads, performance.now() - begun);
}

/** Whether the reason may lie in what is asked for, and not in the back end. */
function isOfDocument(reason: unknown): boolean {
  if (!(reason instanceof GraphQLError)) return reason instanceof RequestRefused;
  const { code, status } = reason.extensions;
  return code === 'BACKEND_BAD_RESPONSE' || status === 400 || status === 413 || status === 422;
}

function note(loads: readonly Load[], ms: number): void {
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
let executions = 0;

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

  /** For one execution of the event: what it fetches for its viewer alone. */
  ofExecution(backends: BackendsByName): EntityLoads {
    return new EntityLoads(this.#batches, backends, this);
  }

  /** The requests of the event so far; of very many, the first. */
  get fetches(): readonly TracedFetch[] {
    return this.#fetches;
  }

  /** @param loads its own of one request, which have settled */
  note(loads: readonly Load[], ms: number): void {
    const [first] = loads;
    if (first === undefined || this.#fetches.length >= MAX_NOTED) return;
    const failed: string[] = [];
    for (const { failure } of loads) {
      if (failure !== undefined && failed.push(failure) === MAX_FAILED) break;
    }
    this.#fetches.push({ backend: first.ask.source.backend, fields: loads.length, ms, failed });
  }

  /**
   * @param place the object of the result that shows the field
   * @param isNew whether the event is about this very entity, so that what was kept before is old
   * @returns what is there already, or a promise of it, which rejects with the reason why it could not be fetched
   * @throws that reason, if it is known already
   */
  load(ask: Ask, place: string, isNew: boolean): unknown {
    const identity = identityOf(ask);
    const known = this.#loads.get(identity);
    if (known?.outcome !== undefined) {
      if ('reason' in known.outcome) throw known.outcome.reason;
      return known.outcome.value;
    }
    if (known?.lostAt?.has(place) === true) return null;
    if (known !== undefined && known.lostAt === undefined) {
      known.places.add(place);
      return known.promise;
    }
    const { backend: name, ttlMs } = ask.source;
    const isKept = ttlMs > 0 && this.#event === undefined;
    const kept = isKept && !isNew ? this.#batches.kept.get(identity) : undefined;
    if (kept !== undefined) return kept.value;
    const backend = this.#backends()[name];
    if (backend === undefined) throw new TypeError(`expected the back end ${name}, got none`);
    const sharing = this.#event === undefined ? name : `${this.id} ${name}`;
    const load = new Load(ask, this, (again) => this.#batches.add(sharing, backend, again));
    load.places.add(place);
    this.#loads.set(identity, load);
    this.#batches.add(sharing, backend, load);
    if (isKept) load.onValue = (value) => this.#batches.kept.set(identity, value, ttlMs);
    return load.promise;
  }
}

/** Where the resolvers of one execution fetch entities. */
export class ExecutionLoads {
  /** Different for each execution. */
  readonly id = executions++;
  /** From back ends that answer alike for all viewers. */
  readonly shared: EntityLoads;
  readonly #context: GraphContext;
  #own: EntityLoads | undefined;

  /** @param context the execution's, without what the graph adds to it */
  constructor(shared: EntityLoads, context: GraphContext) {
    this.shared = shared;
    this.#context = context;
  }

  /** From back ends to which values of the viewer are forwarded. */
  get own(): EntityLoads {
    this.#own ??= this.shared.ofExecution(() => this.#context.backends);
    return this.#own;
  }

  /** The viewer, recorded: each read of it counts as one of the execution. */
  get viewer(): Json {
    return this.#context.viewer as Json;
  }
}

/** Under this symbol a context holds its ExecutionLoads. */
const LOADS = Symbol('ExecutionLoads');

export function setExecutionLoads(context: object, loads: ExecutionLoads): void {
  Object.defineProperty(context, LOADS, { value: loads, configurable: true });
}

/** @throws TypeError if the context has none */
export function executionLoadsOf(context: unknown): ExecutionLoads {
  const loads: unknown = (context as Readonly<Record<symbol, unknown>> | undefined)?.[LOADS];
  if (loads instanceof ExecutionLoads) return loads;
  throw new TypeError('expected a context that fetches entities, got another');
}
