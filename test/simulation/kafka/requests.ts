import type { Random } from '../../helpers/random.ts';
import type { Owner } from '../time/virtual-time.ts';
import type { SimulatedKafka } from './cluster.ts';

/** Thrown when no broker has answered after all retries: the same request may succeed later. */
export class BrokersAway extends Error {
  constructor() {
    super('expected a broker to answer, but none did');
    this.name = 'BrokersAway';
  }
}

/** Thrown when a topic to be consumed does not exist: it may be made anew. */
export class TopicMissing extends Error {
  constructor(topics: readonly string[]) {
    super(`expected topics that exist, got ${topics.join(', ')}`);
    this.name = 'TopicMissing';
  }
}

const LATENCY_MS = { least: 0.2, most: 1 };

/** The same as in src/ingest/kafka/kafkajs/client.ts. */
const RETRIES = { count: 5, firstMs: 300, maxMs: 5_000 };

/** Sends the requests of one pod's client to the brokers. */
export class Requests {
  readonly pod: Owner;
  readonly #kafka: SimulatedKafka;
  readonly #random: Random;

  constructor(kafka: SimulatedKafka, pod: Owner, random: Random) {
    this.#kafka = kafka;
    this.pod = pod;
    this.#random = random;
  }

  /**
   * Runs at a broker, and returns the result.
   *
   * @throws BrokersAway
   */
  send<T>(run: () => T): Promise<T> {
    return this.#exchange((resolve) => resolve(run()));
  }

  /** Sends a request that the broker answers only when there is an answer. */
  wait<T>(run: (reply: (value: T) => void) => void): Promise<T> {
    return this.#exchange(run);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#kafka.time.after(ms, this.pod, resolve);
    });
  }

  async #exchange<T>(run: (reply: (value: T) => void) => void): Promise<T> {
    for (let attempt = 0, wait = RETRIES.firstMs; ; attempt += 1, wait = Math.min(2 * wait, RETRIES.maxMs)) {
      const outcome = await this.#once(run);
      if (outcome !== undefined) return outcome.value;
      if (attempt === RETRIES.count) throw new BrokersAway();
      await this.sleep(wait);
    }
  }

  /** @returns undefined if the pod reached no broker */
  #once<T>(run: (reply: (value: T) => void) => void): Promise<{ readonly value: T } | undefined> {
    const { time } = this.#kafka;
    return new Promise((resolve) => {
      const answer = (outcome: { readonly value: T } | undefined): void => {
        time.after(this.#latency, this.pod, () => resolve(outcome));
      };
      time.after(this.#latency, undefined, () => {
        if (this.#kafka.isReachable(this.pod)) run((value) => answer({ value }));
        else answer(undefined);
      });
    });
  }

  get #latency(): number {
    return LATENCY_MS.least + this.#random.next() * (LATENCY_MS.most - LATENCY_MS.least);
  }
}
