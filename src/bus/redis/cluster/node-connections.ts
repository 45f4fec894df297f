import type { Log } from '../../../log.ts';
import type { Listener } from '../../bus.ts';
import type { Address } from '../access.ts';
import type { CommandConnection, ListeningConnection } from '../connection.ts';

/** Listens to channels of all slots of a node. After a reconnect, its users join their channels again. */
export interface NodeListeningConnection extends Omit<ListeningConnection, 'join'> {
  /**
   * @param channels of one slot
   * @throws the node's refusal, as a ReplyError; or an error if the connection is closed for good
   */
  join(channels: ReadonlyMap<string, Listener>): Promise<void>;
  /** Messages of these channels reach no listener any more. */
  forget(channels: Iterable<string>): void;
}

/** Whether the node still sends the messages of a channel. */
export type IsSubscribed = (channel: string) => boolean;

/**
 * Creates the two connections to a node, without starting them.
 *
 * @param onMoved called when the node has unsubscribed channels, or refused one, as it does not serve their slot any more
 */
export type ConnectNode = (
  address: Address,
  onMoved: (isSubscribed: IsSubscribed) => void,
  log: Log,
) => { readonly commands: CommandConnection; readonly listening: NodeListeningConnection };
