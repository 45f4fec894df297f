import type { Deleted } from './deleted.ts';
import type { Subscriber } from '../subscriber.ts';
import type { RecordedChannel } from './recording-request.ts';

/** A subscriber, and the position of the last event that it has got. */
export interface Resumer {
  readonly subscriber: Subscriber;
  /** Aborts when it leaves before it is in the group. */
  readonly leaving: AbortSignal;
  readonly epoch: string;
  sequence: number;
  /** By channel, the sequence after which its last events begin. Present if it has begun with the last events. */
  readonly starts?: ReadonlyMap<string, number>;
  /** Events after these sequences that it does not get. */
  readonly deleted?: Deleted;
}

/** Whether all messages that the resumer lacks are recorded. */
export function isRecorded(channels: readonly RecordedChannel[], resumer: Resumer): boolean {
  const { epoch } = resumer;
  return channels.every(({ name, recording }) =>
    recording?.covers({ epoch, sequence: placeIn(name, resumer) }),
  );
}

/** The sequence after which the resumer gets the channel's messages. */
function placeIn(channel: string, { sequence, starts }: Resumer): number {
  return Math.max(sequence, starts?.get(channel) ?? 0);
}

/** The sequence after which each message of the channel is for at least one of these resumers. */
export function startOf(channel: string, resumers: readonly Resumer[]): number {
  return Math.min(...resumers.map((resumer) => placeIn(channel, resumer)));
}
