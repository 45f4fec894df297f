import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Assignment, ClientCommand, ClientMessage, ClientReport, Progress } from './client-messages.ts';

const MAIN = path.join(import.meta.dirname, 'client-main.js');

/** One process of clients, seen from the load test. */
export class ClientProcess {
  readonly #child: ChildProcess;
  readonly #changed: () => void;
  #progress: Progress = { type: 'progress', open: 0, deliveries: 0, bytes: 0, closed: 0 };

  /** @param changed called whenever `progress` has changed */
  constructor(assignment: Assignment, changed: () => void) {
    this.#changed = changed;
    this.#child = fork(MAIN, [JSON.stringify(assignment)], { execArgv: [] });
    // Each attempt of a warm-up adds a listener.
    this.#child.setMaxListeners(0);
    this.#child.on('message', (message: ClientMessage) => {
      if (message.type !== 'progress') return;
      this.#progress = message;
      this.#changed();
    });
  }

  get progress(): Progress {
    return this.#progress;
  }

  send(command: ClientCommand): void {
    this.#child.send(command);
  }

  report(): Promise<ClientReport> {
    return this.#ask({ type: 'report' }, (message) => (message.type === 'report' ? message : undefined));
  }

  /** Resolves when every socket has got the event of this number. */
  async reached(seq: number): Promise<void> {
    await this.#ask({ type: 'await', seq }, (message) =>
      message.type === 'reached' && message.seq === seq ? message : undefined,
    );
  }

  #ask<T extends ClientMessage>(
    command: ClientCommand,
    answerIn: (message: ClientMessage) => T | undefined,
  ): Promise<T> {
    return new Promise((resolve) => {
      const listen = (message: ClientMessage): void => {
        const answer = answerIn(message);
        if (answer === undefined) return;
        this.#child.off('message', listen);
        resolve(answer);
      };
      this.#child.on('message', listen);
      this.send(command);
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
