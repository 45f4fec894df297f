import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import type { Scope } from '../../test/helpers/scope.ts';
import type { ChaosAnswer, ChaosAnswers, ChaosAssignment, ChaosCommand, Numbers } from './chaos-messages.ts';
import type { ClientReport } from './client-account.ts';

const MAIN = path.join(import.meta.dirname, 'chaos-main.js');

interface Pending {
  resolve(answer: ChaosAnswer['answer']): void;
  reject(error: Error): void;
}

/** A process of clients that resume, seen from the chaos run. It ends with its scope. */
export class ChaosClients {
  readonly count: number;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #number = 0;

  /** @param isPolite runs the process at low priority, so that its thousands of clients do not slow what is measured */
  constructor(scope: Scope, assignment: ChaosAssignment, { isPolite = false } = {}) {
    this.count = assignment.clients;
    this.#child = fork(MAIN, [JSON.stringify(assignment)], { execArgv: [] });
    if (isPolite && this.#child.pid !== undefined)
      setPriority(this.#child.pid, constants.priority.PRIORITY_LOW);
    this.#child.on('message', ({ number, answer }: ChaosAnswer) => {
      this.#pending.get(number)?.resolve(answer);
      this.#pending.delete(number);
    });
    this.#child.once('exit', (code, signal) => {
      const error = new Error(`expected a process of clients to go on, but it ended with ${signal ?? code}`);
      for (const { reject } of this.#pending.values()) reject(error);
    });
    scope.after(() => this.#stop());
  }

  open(): Promise<true> {
    return this.#ask({ type: 'open' });
  }

  cut(share: number): Promise<true> {
    return this.#ask({ type: 'cut', share });
  }

  leave(): Promise<true> {
    return this.#ask({ type: 'leave' });
  }

  return(): Promise<true> {
    return this.#ask({ type: 'return' });
  }

  counts(sent: Numbers): Promise<ChaosAnswers['count']> {
    return this.#ask({ type: 'count', sent });
  }

  places(): Promise<ChaosAnswers['places']> {
    return this.#ask({ type: 'places' });
  }

  delays(): Promise<readonly number[]> {
    return this.#ask({ type: 'delays' });
  }

  close(sent: Numbers): Promise<readonly ClientReport[]> {
    return this.#ask({ type: 'close', sent });
  }

  /** Rejects if the process ends. */
  #ask<Type extends ChaosCommand['type']>(
    command: Extract<ChaosCommand, { type: Type }>,
  ): Promise<ChaosAnswers[Type]> {
    const number = (this.#number += 1);
    return new Promise((resolve, reject) => {
      this.#pending.set(number, { resolve: resolve as Pending['resolve'], reject });
      this.#child.send({ number, command }, (error) => error && reject(error));
    });
  }

  async #stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
