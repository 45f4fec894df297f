import { decodeMessage, type Message } from '../events/message.ts';
import { RecentEvents, type KeptEvent, type TopicEvents } from './recent-events.ts';

/** A message that the bus has brought. */
export interface KeptArrived extends KeptEvent {
  /** `Message.in`. */
  readonly in: number;
  /** Channels that have carried the message here: only channels to which this process is subscribed. */
  readonly channels: string[];
  /** Null: the payload takes more room than there is. */
  readonly payload: string | null;
  /** Whether the payload came as bytes: each character is a byte then. */
  readonly isBinary: boolean;
}

/** Approximate bytes of a message without its payload and the names of channels. */
const EVENT_BYTES = 256;

/** Keeps the last messages that have come to this process, as they came. */
export class RecentlyArrived {
  readonly #events: RecentEvents<KeptArrived>;
  readonly #now: () => number;

  /**
   * @param maxBytes the bytes of all messages kept
   * @param now ms since 1970
   */
  constructor(maxBytes: number, now: () => number) {
    this.#now = now;
    this.#events = new RecentEvents(maxBytes, now);
  }

  of(topic: string): TopicEvents<KeptArrived> {
    return this.#events.of(topic);
  }

  /** Keeps a message that a channel has carried for the first time. */
  add(message: Message, channel: string, payload: Buffer | string): void {
    const { t: topic, p: partition, o: offset } = message;
    const events = this.#events.for(topic);
    const known = events.find(partition, offset);
    // The same offset of a topic that was made anew is another event.
    if (known !== undefined && known.in === message.in) {
      known.channels.push(channel);
      events.resize(known, known.bytes + channel.length);
      return;
    }
    const isBinary = typeof payload !== 'string';
    const bytes = EVENT_BYTES + channel.length + (isBinary ? 1 : 2) * payload.length;
    const fits = bytes <= events.room;
    events.add({
      partition,
      offset,
      at: this.#now(),
      bytes: fits ? bytes : EVENT_BYTES + channel.length,
      in: message.in,
      channels: [channel],
      // Copied: the buffer is a slice of all the bytes that a socket read at once, which would be kept with it.
      payload: fits ? (isBinary ? payload.toString('latin1') : payload) : null,
      isBinary,
    });
  }
}

/** @returns undefined if the payload was not kept */
export function messageOf({ payload, isBinary }: KeptArrived): Message | undefined {
  if (payload === null) return undefined;
  return decodeMessage(isBinary ? Buffer.from(payload, 'latin1') : payload);
}
