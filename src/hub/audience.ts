import type { Event } from '../events/event.ts';
import type { EventFilter } from '../graph/graph.ts';
import type { Json } from '../lazy/reads.ts';
import type { Log } from '../log.ts';
import type { DispatchWork } from './dispatch-work.ts';
import type { Subscriber } from './subscriber.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';
import type { ViewerPartitions } from './viewer-partition.ts';
import { UNITS } from './work-budget.ts';

/** Subscribers of a group for whom its filter lets the same events through. */
export interface Bucket {
  /** What the filter reads of their viewers: differs from bucket to bucket. */
  readonly values: string;
  readonly subscribers: ReadonlySet<Subscriber>;
}

/** The subscribers that one event is for. */
export interface Passing {
  readonly subscribers: ReadonlySet<Subscriber>;
  /** All others of the group. */
  readonly excluded: readonly ReadonlySet<Subscriber>[];
}

interface AudienceServices {
  readonly work: DispatchWork;
  readonly log: Log;
}

/** The subscribers of a group, and the filter that says which events are for whom. */
export class Audience {
  #plan: Pick<SubscriptionPlan, 'filter' | 'field'>;
  readonly #subscribers: ReadonlySet<Subscriber>;
  readonly #partitions: ViewerPartitions;
  readonly #services: AudienceServices;
  readonly #all: Passing;

  /** @param subscribers all of the group, now and later */
  constructor(
    plan: Pick<SubscriptionPlan, 'filter' | 'field'>,
    subscribers: ReadonlySet<Subscriber>,
    partitions: ViewerPartitions,
    services: AudienceServices,
  ) {
    this.#plan = plan;
    this.#subscribers = subscribers;
    this.#partitions = partitions;
    // Not all services of the group: the others keep the group's first graph in memory.
    this.#services = { work: services.work, log: services.log };
    this.#all = { subscribers, excluded: [] };
  }

  /** Continues with another graph. @param plan its filter must mean the same as before */
  renew(plan: Pick<SubscriptionPlan, 'filter' | 'field'>): void {
    this.#plan = plan;
  }

  /** The result for an event that no subscriber gets. */
  get none(): Passing {
    return { subscribers: new Set(), excluded: [this.#subscribers] };
  }

  get subscribers(): ReadonlySet<Subscriber> {
    return this.#subscribers;
  }

  get buckets(): readonly Bucket[] {
    const { filter } = this.#plan;
    if (filter === undefined) return [{ values: '', subscribers: this.#subscribers }];
    const buckets: Bucket[] = [];
    for (const subscribers of this.#partitions.of(filter.reads).buckets) {
      const [first] = subscribers;
      if (first !== undefined) buckets.push({ values: this.valuesIn(first.viewer), subscribers });
    }
    return buckets;
  }

  valuesIn(viewer: Json): string {
    return this.#plan.filter?.reads.valuesIn(viewer) ?? '';
  }

  /** @param bytes of the event's message */
  passes(event: Event, viewer: Json, bytes: number): boolean {
    const { filter } = this.#plan;
    return filter === undefined || this.#passes(filter, event, viewer, bytes);
  }

  /**
   * @param bytes of the event's message
   * @returns undefined if the filter lets the event through for no subscriber
   */
  of(event: Event, bytes: number): Passing | undefined {
    const { filter } = this.#plan;
    if (filter === undefined) return this.#all;
    if (filter.reads.size === 0) {
      if (this.#passes(filter, event, null, bytes)) return this.#all;
      this.#services.work.rejected();
      return undefined;
    }
    const passing: ReadonlySet<Subscriber>[] = [];
    const excluded: ReadonlySet<Subscriber>[] = [];
    for (const bucket of this.#partitions.of(filter.reads).buckets) {
      const [first] = bucket;
      const passes = first !== undefined && this.#passes(filter, event, first.viewer, bytes);
      (passes ? passing : excluded).push(bucket);
    }
    if (passing.length === 0) {
      this.#services.work.rejected();
      return undefined;
    }
    if (excluded.length === 0) return this.#all;
    return { subscribers: new Set(passing.flatMap((bucket) => [...bucket])), excluded };
  }

  /** A filter may throw, as it may run code of the graph's own scalars: then it does not let the event through. */
  #passes(filter: EventFilter, event: Event, viewer: Json, bytes: number): boolean {
    const { comparisons, scans } = filter.cost;
    const units = UNITS.filter + comparisons * UNITS.comparison + scans * bytes * UNITS.byte;
    this.#services.work.spend(units);
    try {
      return filter.passes(event, viewer);
    } catch (error) {
      this.#services.log.error({ err: error, field: this.#plan.field }, 'a filter failed');
      return false;
    }
  }
}
