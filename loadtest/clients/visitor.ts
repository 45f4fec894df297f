import { RawClient, type Receiver } from './raw-client.ts';

/** Somebody who connects, is acknowledged and leaves. */
export class Visitor implements Receiver {
  readonly #client: RawClient;
  readonly #began = performance.now();
  readonly #done: (ms: number | undefined) => void;

  /** @param done gets the ms from connecting to the acknowledgement; undefined if there was none */
  constructor(endpoint: { host: string; port: number }, done: (ms: number | undefined) => void) {
    this.#done = done;
    this.#client = new RawClient(endpoint, '127.0.0.1', this);
  }

  acknowledged(): void {
    this.#done(performance.now() - this.#began);
    this.#client.destroy();
  }

  text(): void {
    // It has asked for nothing.
  }

  ended(ending: string): void {
    if (ending === 'refused') this.#done(undefined);
  }
}
