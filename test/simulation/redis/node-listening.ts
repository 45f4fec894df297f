import { ReplyError } from 'ioredis';
import type { Listener } from '../../../src/bus/bus.ts';
import type { NodeListeningConnection } from '../../../src/bus/redis/cluster/node-connections.ts';
import type { ConnectionListener } from '../../../src/bus/redis/connection.ts';
import type { Owner } from '../time/virtual-time.ts';
import { SimulatedListeningConnection } from './listening-connection.ts';
import type { Network } from './network.ts';

/** One that joins nothing again by itself, but for what was not acknowledged, as ioredis sends that again. */
class Connection extends SimulatedListeningConnection {
  readonly #onMoved: () => void;

  constructor(network: Network, pod: Owner, onMoved: () => void) {
    super(network, pod);
    this.#onMoved = onMoved;
  }

  forget(channel: string): void {
    this.listeners.delete(channel);
  }

  override stop(): void {
    super.stop();
    for (const { reject } of this.joining.values()) reject(new Error('Connection is closed.'));
  }

  protected override get joinedAtOnce(): Iterable<string> {
    return this.joining.keys();
  }

  protected override moved(): void {
    this.#onMoved();
  }

  protected override refused(): void {}

  protected override errorOf(refusal: string): Error {
    return new ReplyError(refusal);
  }
}

/** As src/bus/redis/cluster/node-listening.ts, over a simulated connection. */
export class SimulatedNodeListening implements NodeListeningConnection {
  readonly connection: Connection;

  constructor(network: Network, pod: Owner, onMoved: () => void) {
    this.connection = new Connection(network, pod, onMoved);
  }

  start(listener: ConnectionListener): void {
    this.connection.start(listener);
  }

  stop(): void {
    this.connection.stop();
  }

  reconnect(): void {
    this.connection.reconnect();
  }

  async join(channels: ReadonlyMap<string, Listener>): Promise<void> {
    await Promise.all([...channels].map(([channel, listener]) => this.connection.join(channel, listener)));
  }

  forget(channels: Iterable<string>): void {
    for (const channel of channels) this.connection.forget(channel);
  }

  leave(channel: string): void {
    this.connection.leave(channel);
  }

  fence(): Promise<void> {
    return this.connection.fence();
  }

  pause(): void {
    this.connection.pause();
  }

  resume(): void {
    this.connection.resume();
  }

  get bytesRead(): number {
    return this.connection.bytesRead;
  }
}
