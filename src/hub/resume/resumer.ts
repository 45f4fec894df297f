import type { Subscriber } from '../subscriber.ts';
import type { RecordedChannel } from './recordings.ts';

/** A subscriber, and the position of the last event that it has got. */
export interface Resumer {
  readonly subscriber: Subscriber;
  readonly epoch: string;
  sequence: number;
  /** Of one that has begun with the last events of each channel: by channel, the sequence behind which these are. */
  readonly starts?: ReadonlyMap<string, number>;
}

/** Whether all is recorded that the resumer lacks. */
export function isRecorded(
  channels: readonly RecordedChannel[],
  { epoch, sequence, starts }: Resumer,
): boolean {
  return channels.every(({ name, recording }) => {
    const from = Math.max(sequence, starts?.get(name) ?? 0);
    return recording?.covers({ epoch, sequence: from });
  });
}

/** The sequence behind which all messages of the channel are for one of these. */
export function startOf(channel: string, resumers: readonly Resumer[]): number {
  return Math.min(...resumers.map(({ starts }) => starts?.get(channel) ?? 0));
}
