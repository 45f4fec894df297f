import type { HistoryPosition } from '../../bus/history.ts';
import type { WorkOwner } from '../../support/fair-limiter.ts';
import type { ChannelOffsets } from '../dedupe.ts';
import type { Recording } from './recording.ts';

/** A channel of the hub, which adds what it carries to the recording, if there is one. */
export interface RecordedChannel {
  readonly name: string;
  /** The positions that it has carried, and up to which its history was read. */
  readonly offsets: ChannelOffsets;
  recording: Recording | undefined;
}

/** What a subscriber wants to be recorded. */
export interface Wish {
  /** All messages after this position. */
  readonly at: HistoryPosition;
  /** If given, the last so many messages of each channel instead. */
  readonly last?: number | undefined;
  /** The subscriber's client, or connection, whose share of the room it takes. */
  readonly owner: WorkOwner;
  /** Aborts when the subscriber has left. */
  readonly leaving: AbortSignal;
}

interface Wisher {
  readonly channels: readonly RecordedChannel[];
  readonly wish: Wish;
  readonly settle: (isRead: boolean) => void;
  readonly fail: (thrown: unknown) => void;
}

/** The first read goes so much further back than asked for: the next subscribers may lack a little more. */
const SEQUENCES_BEFORE = 256;

/**
 * One request to the bus for channels of one topic: it serves the subscribers of one owner that want about the same
 * messages. The cursor of another owner, or a far older one, does not widen it.
 */
export class RecordingRequest {
  readonly topic: string;
  readonly owner: WorkOwner;
  readonly last: number | undefined;
  readonly #at: number;
  readonly #isAlone: boolean;
  readonly #wishers = new Set<Wisher>();
  readonly #abandoned = new AbortController();

  /** @param isAlone the request serves only one subscriber */
  constructor(topic: string, { at, last, owner }: Wish, isAlone: boolean) {
    this.topic = topic;
    this.owner = owner;
    this.last = last;
    this.#at = at.sequence;
    this.#isAlone = isAlone;
  }

  /** Aborts once all subscribers have left. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal;
  }

  suits(topic: string, { at, last }: Wish): boolean {
    const isNear = Math.abs(at.sequence - this.#at) <= SEQUENCES_BEFORE;
    return !this.#isAlone && topic === this.topic && last === this.last && isNear;
  }

  /**
   * @returns whether all available messages are recorded; false if there was no room for them
   * @throws what the bus throws, or that the subscriber has left
   */
  join(channels: readonly RecordedChannel[], wish: Wish): Promise<boolean> {
    return new Promise<boolean>((resolve, reject) => {
      const leave = (): void => wisher.fail(wish.leaving.reason);
      const end = (): void => {
        wish.leaving.removeEventListener('abort', leave);
        this.#wishers.delete(wisher);
        if (this.#wishers.size === 0) this.#abandoned.abort(wish.leaving.reason);
      };
      const wisher: Wisher = {
        channels,
        wish,
        settle: (isRead) => {
          end();
          resolve(isRead);
        },
        fail: (thrown) => {
          end();
          reject(thrown as Error);
        },
      };
      wish.leaving.addEventListener('abort', leave);
      this.#wishers.add(wisher);
    });
  }

  /** Channels that are still to be read, by name. */
  get lacking(): ReadonlyMap<string, RecordedChannel> {
    const all = [...this.#wishers].flatMap(({ channels, wish }) => lacking(channels, wish));
    return new Map(all.map((channel) => [channel.name, channel]));
  }

  /**
   * The sequence behind which the bus is asked.
   *
   * @param isAhead whether to read also for the next subscribers, which may lack more
   */
  since(isAhead: boolean): number {
    if (this.last !== undefined) return 0;
    const wishers = [...this.#wishers];
    const exact = Math.min(...wishers.map(({ wish }) => wish.at.sequence));
    if (!isAhead) return exact;
    // A channel that is read again goes back twice as far: if each subscriber lacks a little more, few reads suffice.
    const short = wishers.flatMap(({ channels, wish }) =>
      channels.map(({ recording }) => recording?.shortOf(wish.at) ?? 0),
    );
    const ahead = short.reduce((most, one) => Math.max(most, one), SEQUENCES_BEFORE);
    return Math.max(0, exact - ahead);
  }

  settle(isRead: boolean): void {
    for (const wisher of this.#wishers) wisher.settle(isRead);
  }

  fail(thrown: unknown): void {
    for (const wisher of this.#wishers) wisher.fail(thrown);
  }
}

/** The channels that are not recorded as far back as wanted. */
export function lacking(
  channels: readonly RecordedChannel[],
  { at, last }: Wish,
): readonly RecordedChannel[] {
  return channels.filter(({ recording }) =>
    last === undefined ? recording?.lacks(at) !== false : recording?.hasLast(last, at.epoch) !== true,
  );
}
