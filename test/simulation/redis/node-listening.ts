import { ReplyError } from 'ioredis';
import type { Listener } from '../../../src/bus/bus.ts';
import type {
  IsSubscribed,
  NodeListeningConnection,
} from '../../../src/bus/redis/cluster/node-connections.ts';
import type { Owner } from '../time/virtual-time.ts';
import { SimulatedListening } from './listening-connection.ts';
import type { Network } from './network.ts';

/**
 * Like src/bus/redis/cluster/node-listening.ts: rejoins no channels on a new connection, except for those without an
 * acknowledgement, which ioredis sends again.
 */
export class SimulatedNodeListening extends SimulatedListening implements NodeListeningConnection {
  readonly #onMoved: (isSubscribed: IsSubscribed) => void;

  constructor(network: Network, pod: Owner, onMoved: (isSubscribed: IsSubscribed) => void) {
    super(network, pod);
    this.#onMoved = onMoved;
  }

  override stop(): void {
    super.stop();
    for (const { reject } of [...this.joining.values()].flat()) reject(new Error('Connection is closed.'));
  }

  async join(channels: ReadonlyMap<string, Listener>): Promise<void> {
    await Promise.all([...channels].map(([channel, listener]) => this.joinOne(channel, listener)));
  }

  forget(channels: Iterable<string>): void {
    for (const channel of channels) this.listeners.delete(channel);
  }

  protected get joinedAtOnce(): Iterable<string> {
    return this.joining.keys();
  }

  /** As with ioredis, joins that were acknowledged just before are settled before the pod notices the move. */
  protected moved(channel: string): void {
    const { time } = this.network;
    time.at(time.now, this.pod, () => this.#onMoved((one) => one !== channel));
  }

  protected refused(): void {}

  protected errorOf(refusal: string): Error {
    return new ReplyError(refusal);
  }
}
