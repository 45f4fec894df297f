import { pathToFileURL } from 'node:url';
import type { Log } from '../log.ts';

/** One made-up event, as a producer would send it. */
interface SimulatedEvent {
  readonly topic: string;
  readonly key: string;
  readonly value: object;
}

interface SimulatorOptions {
  /** Never ends. */
  readonly events: Iterator<SimulatedEvent>;
  readonly accept: (topic: string, value: Buffer, key: string) => Promise<void>;
  readonly log: Log;
}

const INTERVAL_MS = 300;

/** Makes up events for as long as it runs, so that a newcomer who starts Sluice sees some at once. */
export class Simulator {
  readonly #options: SimulatorOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SimulatorOptions) {
    this.#options = options;
  }

  /** @param file exports `simulate`, which makes up events */
  static async load(file: string, options: Omit<SimulatorOptions, 'events'>): Promise<Simulator> {
    const { simulate } = (await import(pathToFileURL(file).href)) as {
      simulate: (random: () => number, now: () => number) => SimulatorOptions['events'];
    };
    return new Simulator({ ...options, events: simulate(Math.random, Date.now) });
  }

  start(): void {
    this.#timer = setInterval(() => this.#send(), INTERVAL_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #send(): void {
    const { events, accept, log } = this.#options;
    const { topic, key, value } = events.next().value as SimulatedEvent;
    accept(topic, Buffer.from(JSON.stringify(value)), key).catch((error: unknown) =>
      log.error({ err: error, topic }, 'a made-up event was refused'),
    );
  }
}
