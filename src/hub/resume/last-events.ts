import { keyIn } from '../../events/in-stream.ts';
import type { Bus } from '../../bus/bus.ts';
import { NoHistory, type HistoryPosition } from '../../bus/history.ts';
import type { Group } from '../group.ts';
import { Deleted } from './deleted.ts';
import type { GroupRecorder } from './group-recorder.ts';
import type { Recording } from './recording.ts';
import type { RecordedChannel } from './recording-request.ts';
import type { Recordings } from './recordings.ts';
import type { Resumer } from './resumer.ts';

/** The last events of each channel of a group that are not deleted. The caller releases the channels. */
interface Found {
  readonly channels: readonly RecordedChannel[];
  /** The position of a subscriber that begins with them. */
  readonly at: HistoryPosition;
  /** By channel: the sequence after which they begin. */
  readonly starts: ReadonlyMap<string, number>;
  /** Events after that sequence that are left out. */
  readonly deleted: Deleted;
  /** Whether these are as many as wanted, or all that the bus has. */
  readonly isWhole: boolean;
}

/** If too few of the events read are not deleted, the next read asks for so many times more: a few times at most. */
const GROWTH = 8;

/** Finds the events that subscribers begin with. */
export class LastEvents {
  readonly #deletions: Bus['deletions'];
  readonly #recorder: GroupRecorder;
  readonly #recordings: Recordings;

  constructor(deletions: Bus['deletions'], recorder: GroupRecorder, recordings: Recordings) {
    this.#deletions = deletions;
    this.#recorder = recorder;
    this.#recordings = recordings;
  }

  /**
   * @param beginning of the topic's history
   * @returns undefined if the bus can't tell
   * @throws that the subscriber has left
   */
  async find(
    group: Group,
    beginning: HistoryPosition | undefined,
    joining: Pick<Resumer, 'subscriber' | 'leaving'>,
  ): Promise<Found | undefined> {
    const { topic, replay } = group.plan;
    let hasReached = false;
    for (let count = replay; ;) {
      const recorded = await this.#recorder.record(group, beginning, joining, count);
      if (recorded === undefined) return undefined;
      const { heard, channels } = recorded;
      let isDone = false;
      try {
        const deletions = await this.#deletions(topic, heard.epoch, keysOf(channels, count));
        const lastDeletion = Math.max(deletions.last, deletions.forgottenUpTo);
        if (!hasReached && lastDeletion > heard.sequence) {
          // Deleted events are not replayed. If this pod has not heard up to the deletion yet, they would come afterwards.
          hasReached = true;
          await this.#recorder.reach(topic, { epoch: heard.epoch, sequence: lastDeletion });
          continue;
        }
        const deleted = new Deleted();
        deleted.add(deletions);
        const isWanting = ({ recording }: RecordedChannel): boolean => {
          const { messages = [], standing = [] } = recording ? lastOf(recording, count, deleted) : {};
          return standing.length < replay && messages.length === count;
        };
        // If there was no room for so many, a further read gets no more.
        const hasAll = channels.every(({ recording }) => recording?.hasLast(count, heard.epoch) === true);
        isDone = !hasAll || !channels.some(isWanting);
        if (isDone) return foundIn(channels, heard, { replay, count, hasAll }, deleted);
        count *= GROWTH;
      } catch (thrown) {
        if (thrown instanceof NoHistory) return undefined;
        throw thrown;
      } finally {
        if (!isDone) this.#recordings.release(channels);
      }
    }
  }
}

/** Kafka keys of the last messages, as they are noted when they are deleted. */
function keysOf(channels: readonly RecordedChannel[], count: number): readonly string[] {
  const messages = channels.flatMap(({ recording }) => recording?.last(count) ?? []);
  return [...new Set(messages.map(({ message }) => keyIn(message)).filter((key) => key !== null))];
}

function foundIn(
  channels: readonly RecordedChannel[],
  heard: HistoryPosition,
  { replay, count, hasAll }: { readonly replay: number; readonly count: number; readonly hasAll: boolean },
  deleted: Deleted,
): Found {
  const starts = new Map<string, number>();
  let isWhole = true;
  for (const { name, recording } of channels) {
    if (recording === undefined) continue;
    const { messages, standing } = lastOf(recording, count, deleted);
    const first = standing.at(-replay) ?? standing[0];
    // Begins after the deleted messages: they must not come because of the cursor either.
    starts.set(name, first ? first.sequence - 1 : (messages.at(-1)?.sequence ?? recording.from));
    const isUnknown = messages.some((message) => deleted.mayHave(message));
    isWhole &&= standing.length >= replay || (hasAll && !isUnknown);
  }
  const at = { epoch: heard.epoch, sequence: Math.min(heard.sequence, ...starts.values()) };
  return { channels, at, starts, deleted, isWhole };
}

function lastOf(recording: Recording, count: number, deleted: Deleted) {
  const messages = recording.last(count);
  return { messages, standing: messages.filter((message) => !deleted.has(message)) };
}
