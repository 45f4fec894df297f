import type { Log } from '../../../log.ts';
import type { Listener } from '../../bus.ts';
import type { Address } from '../access.ts';
import type { CommandConnection, ListeningConnection } from '../connection.ts';

/** The connection that channels of all slots of a node are listened to on. Those who use it join theirs again. */
export interface NodeListeningConnection extends Omit<ListeningConnection, 'join'> {
  /**
   * @param channels of one slot
   * @throws what the node says of them, as a ReplyError; or an error if the connection is closed for good
   */
  join(channels: ReadonlyMap<string, Listener>): Promise<void>;
  /** Their messages reach no listener any more. */
  forget(channels: Iterable<string>): void;
}

/**
 * Makes the two connections to a node, which are not started.
 *
 * @param onMoved called when the node says that it does not serve some channels any more
 */
export type ConnectNode = (
  address: Address,
  onMoved: () => void,
  log: Log,
) => { readonly commands: CommandConnection; readonly listening: NodeListeningConnection };
