import type { Log } from '../../../log.ts';
import { withTimeout } from '../../../support/with-timeout.ts';
import { keyOfAddress, type Address } from '../access.ts';
import type { CommandConnection } from '../connection.ts';
import { Followed } from './followed.ts';
import type { ConnectNode, IsSubscribed, NodeListeningConnection } from './node-connections.ts';
import { VIEW, viewOf, type ClusterView } from './view.ts';

interface ClusterNodeOptions {
  readonly address: Address;
  readonly connect: ConnectNode;
  /** Called when slots may have moved. */
  readonly onChange: () => void;
  readonly log: Log;
}

/** How long to wait for the view of a node. */
const VIEW_TIMEOUT_MS = 1_000;

/** A master of the cluster, and this pod's two connections to it. */
export class ClusterNode {
  readonly address: Address;
  readonly commands: Followed<CommandConnection>;
  readonly listening: Followed<NodeListeningConnection>;

  constructor({ address, connect, onChange, log }: ClusterNodeOptions) {
    this.address = address;
    const onMoved = (isSubscribed: IsSubscribed): void => {
      onChange();
      this.listening.moved(isSubscribed);
    };
    const connections = connect(address, onMoved, log.child({ node: keyOfAddress(address) }));
    this.commands = new Followed(connections.commands);
    this.listening = new Followed(connections.listening);
    const lost = { onReady: () => undefined, onLost: onChange };
    this.commands.follow(lost);
    this.listening.follow(lost);
  }

  start(): void {
    this.commands.start();
    this.listening.start();
  }

  stop(): void {
    this.commands.stop();
    this.listening.stop();
  }

  /** @throws if there is no connection, or the node has no view at present */
  async view(): Promise<ClusterView> {
    const replies = withTimeout(this.commands.connection.send(VIEW), VIEW_TIMEOUT_MS, () => {
      throw new Error(`no reply within ${VIEW_TIMEOUT_MS} ms`);
    });
    return viewOf(await replies, this.address);
  }
}
