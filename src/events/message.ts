import type { Event } from './event.ts';

/**
 * What travels on a channel, as JSON. Pods of two versions exchange these during a rollout, so fields are only ever
 * added, and a message of an unknown version is skipped.
 */
export interface Message {
  readonly v: 1;
  /** Topic. */
  readonly t: string;
  /** Kafka's id of the topic: a topic that is made anew under the same name has another. Absent where it is not known. */
  readonly id?: string;
  /** Partition. */
  readonly p: number;
  /** Offset. */
  readonly o: number;
  /** Kafka timestamp, ms. */
  readonly ts: number;
  /** When a pod consumed it, ms. */
  readonly in: number;
  /** Kafka key, as text. */
  readonly key: string | null;
  readonly event: Event;
  /** W3C Trace Context of the span that has published it: only if its trace is sampled. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** Epoch and sequence in the history of the topic, if the bus keeps one. */
  readonly h?: readonly [epoch: string, sequence: number];
}

export function encodeMessage(message: Message): string {
  return JSON.stringify(message);
}

/** @returns undefined if the payload is not a message of version 1 */
export function decodeMessage(payload: Buffer | string): Message | undefined {
  let message: Partial<Message> | null;
  try {
    message = JSON.parse(payload as string) as Partial<Message> | null;
  } catch {
    return undefined;
  }
  return isMessage(message) ? message : undefined;
}

function isMessage(message: Partial<Message> | null): message is Message {
  return (
    typeof message === 'object' &&
    message !== null &&
    message.v === 1 &&
    typeof message.t === 'string' &&
    typeof message.p === 'number' &&
    typeof message.o === 'number' &&
    typeof message.ts === 'number' &&
    typeof message.event === 'object' &&
    message.event !== null
  );
}
