import { deepFreeze } from '../support/deep-freeze.ts';
import type { Event } from './event.ts';

/**
 * A message on a channel, as JSON. Pods of two versions exchange messages during a rollout, so fields are only ever
 * added, and a message of an unknown version is skipped.
 */
export interface Message {
  readonly v: 1;
  /** Topic. */
  readonly t: string;
  /** Whether the message is of a stream of several topics. Absent: the stream is the topic. */
  readonly m?: 1;
  /** Kafka's id of the topic: a topic that is created again under the same name has another id. Absent: not known. */
  readonly id?: string;
  /** Partition. */
  readonly p: number;
  /** Offset. */
  readonly o: number;
  /** Epoch in the log: an offset that is assigned again has a higher epoch, see logEpoch. Absent: not known. */
  readonly e?: number;
  /** Kafka timestamp, ms. */
  readonly ts: number;
  /** When a pod consumed the event, ms. */
  readonly in: number;
  /** Kafka key, as text. */
  readonly key: string | null;
  readonly event: Event;
  /** W3C Trace Context of the span that published the event; only if its trace is sampled. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** Epoch and sequence in the history of the topic, if the bus keeps one. */
  readonly h?: readonly [epoch: string, sequence: number];
}

export function encodeMessage(message: Message): string {
  return JSON.stringify(message);
}

/** @param encoded by `encodeMessage` @returns the same message for a stream of several topics */
export function amongSeveral(encoded: string): string {
  return `{"m":1,${encoded.slice(1)}`;
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

/** Copies of smaller messages cost less to decode than to compare. */
const REPEATED_BYTES = 1_024;

/** Decodes a message on several channels only once: the copies of an event follow each other. */
export class MessageDecoder {
  #payload: Buffer | string = '';
  #message: Message | undefined;

  /**
   * @param freezes whether the event is frozen, since all receivers of the message share it
   * @returns undefined if the payload is not a message of version 1
   */
  decode(payload: Buffer | string, freezes: boolean): Message | undefined {
    const message = this.#decode(payload);
    if (freezes && message !== undefined && !Object.isFrozen(message.event)) deepFreeze(message.event);
    return message;
  }

  #decode(payload: Buffer | string): Message | undefined {
    if (payload.length < REPEATED_BYTES) return decodeMessage(payload);
    if (!isSame(payload, this.#payload)) {
      this.#message = decodeMessage(payload);
      this.#payload = payload;
    }
    return this.#message;
  }
}

function isSame(one: Buffer | string, other: Buffer | string): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return one.length === other.length && one.equals(other);
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
