import { sumOf, type Usage } from './process-tree.ts';
import type { ProbeAnswers } from './probe-messages.ts';
import { Server } from './server-process.ts';
import type { Target, Wiring } from './target.ts';

/** All processes of one server under test, and the sums of their figures. */
export class Pods {
  readonly #servers: Server[] = [];

  get servers(): readonly Server[] {
    return this.#servers;
  }

  /** Starts processes one after the other until there are `count`. The caller calls `stop` even if this fails. */
  async start(target: Target, wiring: Wiring, count: number): Promise<void> {
    while (this.#servers.length < count) this.#servers.push(await Server.start(target, wiring));
  }

  /** Rejects when a process ends. */
  get ended(): Promise<never> {
    return Promise.race(this.#servers.map((server) => server.ended));
  }

  get usage(): Usage {
    return sumOf(this.#servers.map(({ usage }) => usage));
  }

  states(): Promise<ProbeAnswers['state'][]> {
    return Promise.all(this.#servers.map((server) => server.ask('state')));
  }

  /** @returns bytes in use on the heap after a collection of garbage */
  async collect(): Promise<number> {
    const collected = await Promise.all(this.#servers.map((server) => server.ask('collect')));
    return collected.reduce((sum, { heapBytes }) => sum + heapBytes, 0);
  }

  /** @returns the number of promises created during the work */
  async promisesOf(work: () => Promise<void>): Promise<number> {
    await Promise.all(this.#servers.map((server) => server.ask('count-promises')));
    await work();
    const counted = await Promise.all(this.#servers.map((server) => server.ask('promises-counted')));
    return counted.reduce((sum, { promises }) => sum + promises, 0);
  }

  /** @returns executions of GraphQL documents so far; NaN if a server does not count them */
  async executions(): Promise<number> {
    const counts = await Promise.all(this.#servers.map((server) => server.metric('sluice_executions_total')));
    return counts.reduce<number>((sum, count) => sum + (count ?? Number.NaN), 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
  }
}
