import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

/** The interval of reads. More reads miss fewer decreases; but each read asks all workers. */
const LOOK_MS = 100;

/** Reads `/metrics` like Prometheus, but more often, and records each counter that decreases. */
export class CounterWatch {
  readonly wentBack: string[] = [];
  looks = 0;
  readonly #url: string;
  readonly #last = new Map<string, number>();
  #running = true;
  #done: Promise<void> = Promise.resolve();

  constructor(url: string) {
    this.#url = url;
  }

  get series(): number {
    return this.#last.size;
  }

  start(t: TestContext): void {
    t.after(() => this.stop());
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#done;
  }

  async #run(): Promise<void> {
    while (this.#running) {
      this.#look(await (await fetch(this.#url)).text());
      await delay(LOOK_MS);
    }
  }

  #look(text: string): void {
    this.looks += 1;
    const present = new Set<string>();
    let isCounter = false;
    for (const line of text.split('\n')) {
      if (line.startsWith('# TYPE ')) isCounter = /counter$|histogram$/.test(line);
      if (!isCounter || line === '' || line.startsWith('#')) continue;
      const name = line.slice(0, line.lastIndexOf(' '));
      const value = Number(line.slice(line.lastIndexOf(' ')));
      const before = this.#last.get(name) ?? 0;
      if (!(value >= before)) this.wentBack.push(`${name}: ${before}, then ${value}`);
      this.#last.set(name, value);
      present.add(name);
    }
    for (const name of this.#last.keys())
      if (!present.has(name)) this.wentBack.push(`${name}: not there any more`);
  }
}
