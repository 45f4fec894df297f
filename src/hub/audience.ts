import type { Event } from '../events/event.ts';
import type { EventFilter } from '../graph/graph.ts';
import type { Json } from '../lazy/reads.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Subscriber } from './subscriber.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';
import type { ViewerPartitions } from './viewer-partition.ts';

/** Subscribers of a group for whom its filter lets the same events through. */
export interface Bucket {
  /** What the filter reads of their viewers: differs from bucket to bucket. */
  readonly values: string;
  readonly subscribers: ReadonlySet<Subscriber>;
}

interface AudienceServices {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The subscribers of a group, and the filter that says which events are for whom. */
export class Audience {
  #plan: Pick<SubscriptionPlan, 'filter' | 'field'>;
  readonly #subscribers: ReadonlySet<Subscriber>;
  readonly #partitions: ViewerPartitions;
  readonly #services: AudienceServices;

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
    this.#services = services;
  }

  /** Goes on with another graph. @param plan whose filter says the same as before */
  renew(plan: Pick<SubscriptionPlan, 'filter' | 'field'>): void {
    this.#plan = plan;
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

  passes(event: Event, viewer: Json): boolean {
    const { filter } = this.#plan;
    return filter === undefined || this.#passes(filter, event, viewer);
  }

  /** @returns the subscribers that the event is for; all others are given to `exclude` */
  of(event: Event, exclude: (subscribers: ReadonlySet<Subscriber>) => void): ReadonlySet<Subscriber> {
    const { filter } = this.#plan;
    if (filter === undefined) return this.#subscribers;
    const passing: ReadonlySet<Subscriber>[] = [];
    let rejected = false;
    for (const bucket of this.#partitions.of(filter.reads).buckets) {
      const [first] = bucket;
      if (first !== undefined && this.#passes(filter, event, first.viewer)) {
        passing.push(bucket);
      } else {
        rejected = true;
        exclude(bucket);
      }
    }
    if (passing.length === 0) this.#services.metrics.filtered.inc();
    return rejected ? new Set(passing.flatMap((bucket) => [...bucket])) : this.#subscribers;
  }

  /** A filter that fails lets no event through: code of the graph's own scalars may run in it. */
  #passes(filter: EventFilter, event: Event, viewer: Json): boolean {
    try {
      return filter.passes(event, viewer);
    } catch (error) {
      this.#services.log.error({ err: error, field: this.#plan.field }, 'a filter failed');
      return false;
    }
  }
}
