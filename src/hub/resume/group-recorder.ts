import { NoHistory, type HistoryPosition } from '../../bus/history.ts';
import type { Group } from '../group.ts';
import { workOwnerOf } from '../subscriber.ts';
import type { RecordedChannel } from './recording-request.ts';
import type { Recordings } from './recordings.ts';
import type { Resumer } from './resumer.ts';
import { isReached, TopicPositions, type TopicPositionServices } from './topic-positions.ts';

export interface GroupRecorderServices extends TopicPositionServices {
  readonly channelsOf: (group: Group) => readonly RecordedChannel[];
  /** Calls back once all messages that the bus has passed on have been taken. */
  readonly afterWaiting: (callback: () => void) => void;
}

/** Recorded channels of a group. The caller has to release them. */
interface Recorded {
  /** Where the topic stood when recording began. */
  readonly heard: HistoryPosition;
  readonly channels: readonly RecordedChannel[];
}

/** Records the channels of groups as far back as resuming subscribers need. */
export class GroupRecorder {
  readonly #services: GroupRecorderServices;
  readonly #recordings: Recordings;
  readonly #positions: TopicPositions;

  constructor(services: GroupRecorderServices, recordings: Recordings) {
    this.#services = services;
    this.#recordings = recordings;
    this.#positions = new TopicPositions(services);
  }

  /**
   * Resolves once this pod has heard all up to the position, unless its epoch has ended.
   *
   * @throws NoHistory
   */
  async reach(topic: string, position: HistoryPosition): Promise<void> {
    await this.#positions.from(topic, position);
  }

  /**
   * Records the channels of the group from a position on, or as far back as they are kept.
   *
   * @param at undefined: nothing is recorded, but the topic's position is known afterwards
   * @param last if given, the last so many messages of each channel are recorded instead
   * @returns undefined if nothing is recorded
   * @throws that the subscriber has left
   */
  async record(
    group: Group,
    at: HistoryPosition | undefined,
    { subscriber, leaving }: Pick<Resumer, 'subscriber' | 'leaving'>,
    last?: number,
  ): Promise<Recorded | undefined> {
    const { topic } = group.plan;
    try {
      const heard = await this.#positions.from(topic, at);
      if (at === undefined || heard === undefined || !isReached(at, heard)) return undefined;
      if (await this.#positions.isLost(topic, at, heard)) return undefined;
      await new Promise<void>((resolve) => this.#services.afterWaiting(resolve));
      const channels = this.#services.channelsOf(group);
      await this.#recordings.open(topic, channels, { at, last, owner: workOwnerOf(subscriber), leaving });
      for (const { recording } of channels) recording?.advance(heard);
      return { heard, channels };
    } catch (thrown) {
      if (thrown instanceof NoHistory) return undefined;
      throw thrown;
    }
  }
}
