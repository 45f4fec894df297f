import type { Group } from '../../../src/hub/group.ts';
import type { FieldName, TopicName } from '../world/graph.ts';

/** That events may be missing. */
export interface Telling {
  readonly at: number;
  /** How long its present subscription had been there; undefined: it was told when that began. */
  readonly afterMs: number | undefined;
}

export interface Delivery {
  readonly number: number;
  /** How often it had been told before that events may be missing. */
  readonly tellings: number;
}

/** Of a subscriber of one pod, or a client that resumes, what it is judged by. */
export interface Receiver {
  readonly name: string;
  readonly pod: string;
  readonly field: FieldName;
  readonly topic: TopicName;
  readonly deliveries: readonly Delivery[];
  readonly faults: readonly string[];
  readonly told: readonly Telling[];
  /** From when on it is to get all events, or be told. */
  readonly joinedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly group: Group | undefined;
  wants(topic: TopicName, channel: string): boolean;
}
