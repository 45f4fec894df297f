import type { Subscription } from '../bus/bus.ts';
import type { ChannelGroups } from './channel-groups.ts';
import type { Group } from './group.ts';
import type { RecordedChannel } from './resume/recording-request.ts';

/** One channel of the bus, and the groups that its messages are for. */
export interface HubChannel extends RecordedChannel {
  readonly groups: ChannelGroups<Group>;
  readonly subscription: Subscription;
  /** How long the bus keeps its messages after it has been left, in ms; 0: it keeps none. */
  readonly keptMs: number;
  /** The first client that asked for the channel, if known: the channel counts for this client until the pod leaves it. */
  readonly client: string | undefined;
}
