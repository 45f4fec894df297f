import { setTimeout as passes } from 'node:timers/promises';
import type { Bus } from '../../bus/bus.ts';
import type { HistoryPosition } from '../../bus/history.ts';

export interface TopicPositionServices {
  /** What this pod has heard. */
  readonly position: Bus['position'];
  readonly readHistory: Bus['readHistory'];
}

/** The bus is asked no more often than this for one topic, as clients may send any cursor: ms. */
const PAUSE_MS = 50;

/**
 * Where topics stand. A pod hears only the channels that its subscribers ask for, so a cursor of another pod may be
 * further than it has heard: then the bus is asked, once for all who come until it is.
 */
export class TopicPositions {
  readonly #services: TopicPositionServices;
  readonly #asking = new Map<string, Promise<void>>();
  /** By topic: ms. */
  readonly #askedAt = new Map<string, number>();

  constructor(services: TopicPositionServices) {
    this.#services = services;
  }

  /**
   * Where the topic stands. This pod has heard all up to there.
   *
   * @param cursor if the result is not beyond it, the bus has not given it
   * @throws NoHistory
   */
  async from(topic: string, cursor?: HistoryPosition): Promise<HistoryPosition | undefined> {
    const { position } = this.#services;
    const heard = position(topic);
    if (heard !== undefined && (cursor === undefined || isReached(cursor, heard))) return heard;
    await this.#ask(topic);
    return position(topic);
  }

  #ask(topic: string): Promise<void> {
    const asking = this.#asking.get(topic) ?? this.#read(topic);
    this.#asking.set(topic, asking);
    return asking;
  }

  async #read(topic: string): Promise<void> {
    const pause = (this.#askedAt.get(topic) ?? -Infinity) + PAUSE_MS - performance.now();
    await (pause > 0 ? passes(pause) : undefined);
    // Who comes from now on may have a cursor that is further than what is read.
    this.#asking.delete(topic);
    this.#askedAt.set(topic, performance.now());
    await this.#services.readHistory(topic, [], 0, { maxBytes: 0 });
  }
}

/** Whether a cursor is one of those that have been given up to this position. */
export function isReached(cursor: HistoryPosition, { epoch, sequence }: HistoryPosition): boolean {
  return cursor.epoch === epoch && cursor.sequence <= sequence;
}
