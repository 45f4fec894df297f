import type { Subscription } from '../bus/bus.ts';
import type { ChannelOffsets } from './dedupe.ts';
import type { Group } from './group.ts';
import type { RecordedChannel } from './resume/recording-request.ts';

/** One channel of the bus, and the groups that its messages are for. */
export interface HubChannel extends RecordedChannel {
  readonly groups: Set<Group>;
  readonly offsets: ChannelOffsets;
  readonly subscription: Subscription;
}
