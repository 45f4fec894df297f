import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Assignment, ClientReport, Order, Progress, Told } from './client-messages.ts';

const MAIN = path.join(import.meta.dirname, 'client-main.js');

/** One process of clients, seen from the load test. */
export class Clients {
  readonly #child: ChildProcess;
  readonly #changed: () => void;
  #progress: Progress = { tell: 'progress', open: 0, deliveries: 0, closed: 0 };

  /** @param changed called whenever `progress` has changed */
  constructor(assignment: Assignment, changed: () => void) {
    this.#changed = changed;
    this.#child = fork(MAIN, [JSON.stringify(assignment)], { execArgv: [] });
    // Each attempt of a warm-up asks once more.
    this.#child.setMaxListeners(0);
    this.#child.on('message', (told: Told) => {
      if (told.tell !== 'progress') return;
      this.#progress = told;
      this.#changed();
    });
  }

  get progress(): Progress {
    return this.#progress;
  }

  order(order: Order): void {
    this.#child.send(order);
  }

  report(): Promise<ClientReport> {
    return this.#ask({ order: 'report' }, (told) => (told.tell === 'report' ? told : undefined));
  }

  /** Resolves when every socket has got the event of this number. */
  async reached(seq: number): Promise<void> {
    await this.#ask({ order: 'await', seq }, (told) =>
      told.tell === 'reached' && told.seq === seq ? told : undefined,
    );
  }

  #ask<T extends Told>(order: Order, answer: (told: Told) => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const listen = (told: Told): void => {
        const answered = answer(told);
        if (answered === undefined) return;
        this.#child.off('message', listen);
        resolve(answered);
      };
      this.#child.on('message', listen);
      this.order(order);
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
