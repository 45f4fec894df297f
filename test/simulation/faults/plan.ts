import type { HistorySettings } from '../../../src/events/history-settings.ts';
import type { Asked, TopicName } from '../world/graph.ts';
import type { Fault } from './draw.ts';

export interface PlannedEvent {
  readonly atMs: number;
  readonly topic: TopicName;
  readonly channel: string;
  readonly malformed: boolean;
}

/** A deletion of a channel's key. */
export type PlannedTombstone = Pick<PlannedEvent, 'atMs' | 'topic' | 'channel'>;

export interface PlannedSubscription extends Asked {
  /** Below 0: before the first event. */
  readonly atMs: number;
  readonly pod: number;
  /** The time until the subscriber leaves; undefined: it stays to the end. */
  readonly staysMs: number | undefined;
}

/** A client that resumes. */
export interface PlannedClient extends Asked {
  readonly atMs: number;
  /** The time that the client takes for a message. */
  readonly takesMs: number;
}

/** All actions of a run. They are drawn from its seed before it begins, so that parts can be left out. */
export interface Plan {
  readonly seed: number;
  readonly pods: number;
  readonly topology: 'single' | 'cluster';
  readonly partitions: Readonly<Record<TopicName, number>>;
  readonly sessionSeconds: number;
  readonly events: readonly PlannedEvent[];
  readonly tombstones: readonly PlannedTombstone[];
  readonly subscriptions: readonly PlannedSubscription[];
  readonly clients: readonly PlannedClient[];
  /** The histories of the topics that have one. */
  readonly histories: Readonly<Partial<Record<TopicName, HistorySettings>>>;
  readonly faults: readonly Fault[];
  /** Whether Kafka's client sends leader epochs with its fetches. */
  readonly namesEpochs: boolean;
  /** Whether pods can read missed events again from Kafka, which brokers before 3.1 do not allow. */
  readonly readsAgain: boolean;
  /** Whether Redis counts subscribers and receivers. Through a proxy, it may know only some of them. */
  readonly countsSubscribers: boolean;
}

/** Events and faults come within this time, in ms. */
export const BUSY_MS = 15_000;

/** A history that keeps all events of a run. */
export const AMPLE = { size: 500, ttlMs: 600_000 } as const;

export const CHANNELS = ['a', 'b', 'c'];
