import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { MemberAssignment, MemberMessage } from './driver-messages.ts';

const MAIN = path.join(import.meta.dirname, 'driver-main.js');

/** A process with one member of a consumer group, seen from the load test. */
export class DriverProcess {
  readonly #child: ChildProcess;
  readonly #listeners = new Set<(message: MemberMessage) => void>();
  /** Rejects when the process ends. */
  readonly #ended: Promise<never>;
  #partitions: readonly number[] = [];

  constructor(assignment: MemberAssignment) {
    this.#child = fork(MAIN, [JSON.stringify(assignment)], { execArgv: [] });
    this.#ended = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`the process of a member has ended with ${String(signal ?? code)}`);
    });
    // The process may end while no caller awaits a message: the rejection must be handled.
    this.#ended.catch(() => undefined);
    this.#child.on('message', (message: MemberMessage) => {
      if (message.type === 'joined') this.#partitions = message.partitions;
      for (const listener of this.#listeners) listener(message);
    });
  }

  /** The partitions that the member got in its last join; empty before the first join. */
  get partitions(): readonly number[] {
    return this.#partitions;
  }

  onMessage(listener: (message: MemberMessage) => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves with the first result of `find` that is not undefined; rejects if the process ends before. */
  async told<T>(find: (message: MemberMessage) => T | undefined): Promise<T> {
    const told = new Promise<T>((resolve) => {
      this.onMessage((message) => {
        const found = find(message);
        if (found !== undefined) resolve(found);
      });
    });
    return Promise.race([told, this.#ended]);
  }

  /** @param signal SIGTERM: the member leaves its group before the process ends */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exit;
  }
}
