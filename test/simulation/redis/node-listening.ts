import { ReplyError } from 'ioredis';
import type { Listener } from '../../../src/bus/bus.ts';
import type { NodeListeningConnection } from '../../../src/bus/redis/cluster/node-connections.ts';
import type { Owner } from '../time/virtual-time.ts';
import { SimulatedListening } from './listening-connection.ts';
import type { Network } from './network.ts';

/**
 * As src/bus/redis/cluster/node-listening.ts: it joins nothing again by itself, but for what was not acknowledged, as ioredis
 * sends that again.
 */
export class SimulatedNodeListening extends SimulatedListening implements NodeListeningConnection {
  readonly #onMoved: () => void;

  constructor(network: Network, pod: Owner, onMoved: () => void) {
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

  protected moved(): void {
    this.#onMoved();
  }

  protected refused(): void {}

  protected errorOf(refusal: string): Error {
    return new ReplyError(refusal);
  }
}
