import type { Clock } from '../../support/clock.ts';

interface ListenerPaceOptions {
  /**
   * Asks all pods that listen, this one too, to answer once they have heard what was published before.
   *
   * @returns how many have been asked
   * @throws if Redis can't be asked
   */
  readonly ask: (question: number) => Promise<number>;
  readonly clock: Clock;
  /** Aborts when the bus stops, and with it the wait for answers. */
  readonly stopping: AbortSignal;
}

/**
 * The most that all publishers together may have under way: half of the 32 MB that Redis buffers for a connection before it
 * closes it. The other half is for publishers that do not know yet how many there are.
 */
const MOST_UNHEARD_BYTES = 16 * 1024 * 1024;
const LEAST_UNHEARD_BYTES = 1024 * 1024;
/** Bytes that are published together: Redis does nothing else meanwhile. */
const MOST_TOGETHER_BYTES = 4 * 1024 * 1024;
/** How many listeners a pod assumes until the first question is answered. */
const EXPECTED_LISTENERS = 4;

/** A pod that has not answered after this time is not waited for again until it answers: it may be frozen, or gone. */
const ANSWER_MS = 2_000;

/**
 * Makes a pod publish no faster than all pods listen. The pod counts the bytes that it publishes; beyond a limit it asks
 * all pods, and goes on when they have answered. A question reaches each pod after all that was published before, and a pod
 * that can't keep up stops reading for a while.
 */
export class ListenerPace {
  readonly #options: ListenerPaceOptions;
  readonly #all: Set<ListenerPace>;
  #unheardBytes = 0;
  #listeners = EXPECTED_LISTENERS;
  #question = 0;
  #answers = 0;
  /** Listeners that did not answer in time. */
  #silent = 0;
  #onAnswer: () => void = () => undefined;
  #asking: Promise<void> | undefined;
  #isWaiting = false;

  /** @param all paces of a bus: links to one node of a cluster share the listening connection */
  constructor(options: ListenerPaceOptions, all = new Set<ListenerPace>()) {
    this.#options = options;
    this.#all = all;
    all.add(this);
  }

  /** The most bytes to publish together. */
  get mostTogether(): number {
    return Math.min(MOST_TOGETHER_BYTES, this.#mostUnheard);
  }

  /** Counts bytes that are to be published; resolves when they may be. */
  async admit(bytes: number): Promise<void> {
    for (;;) {
      const unheard = [...this.#all].filter((one) => one.#unheardBytes > 0);
      const total = unheard.reduce((sum, one) => sum + one.#unheardBytes, 0);
      if (total === 0 || total + bytes <= this.#mostUnheard) break;
      await Promise.all(unheard.map((one) => one.#untilHeard()));
    }
    this.#unheardBytes += bytes;
  }

  /** Called when a pod has heard what was published before the question. */
  heard(question: number): void {
    if (this.#isWaiting && question === this.#question) {
      this.#answers += 1;
      this.#onAnswer();
    } else if (this.#silent > 0) {
      this.#silent -= 1;
    }
  }

  get #mostUnheard(): number {
    return Math.max(LEAST_UNHEARD_BYTES, Math.floor(MOST_UNHEARD_BYTES / this.#listeners));
  }

  #untilHeard(): Promise<void> {
    if (this.#asking === undefined) {
      this.#question += 1;
      this.#answers = 0;
      this.#isWaiting = true;
      this.#asking = this.#ask(this.#question).finally(() => (this.#asking = undefined));
    }
    return this.#asking;
  }

  async #ask(question: number): Promise<void> {
    const { ask, clock, stopping } = this.#options;
    const bytes = this.#unheardBytes;
    try {
      const asked = await ask(question);
      const missing = (): number => asked - this.#silent - this.#answers;
      this.#listeners = Math.max(1, asked);
      const answered = new AbortController();
      this.#onAnswer = () => void (missing() <= 0 && answered.abort());
      // Answers may come before the reply.
      if (missing() > 0) await clock.sleep(ANSWER_MS, AbortSignal.any([answered.signal, stopping]));
      if (missing() > 0) this.#silent = asked - this.#answers;
    } catch {
      // Without a connection no pod can be overrun, and publishing fails anyway.
    }
    this.#isWaiting = false;
    this.#unheardBytes -= bytes;
  }
}
