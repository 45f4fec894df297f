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
  /** By channel, the sequence behind which its last events are. There for one that has begun with them. */
  readonly starts?: ReadonlyMap<string, number>;
  /** Events behind these that it does not get. */
  readonly deleted?: Deleted;
}

/** Whether all is recorded that the resumer lacks. */
export function isRecorded(channels: readonly RecordedChannel[], resumer: Resumer): boolean {
  const { epoch } = resumer;
  return channels.every(({ name, recording }) =>
    recording?.covers({ epoch, sequence: placeIn(name, resumer) }),
  );
}

/** The sequence behind which it gets what the channel has carried. */
function placeIn(channel: string, { sequence, starts }: Resumer): number {
  return Math.max(sequence, starts?.get(channel) ?? 0);
}

/** The sequence behind which all messages of the channel are for one of these. */
export function startOf(channel: string, resumers: readonly Resumer[]): number {
  return Math.min(...resumers.map((resumer) => placeIn(channel, resumer)));
}
