import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { messageOf } from '../errors.ts';
import { WORKER, type MetricSnapshot, type PrimaryMessage, type WorkerMessage } from './messages.ts';

interface Events {
  /** It listens now, or is ready, or is not so any more. */
  change: [];
  /** Another one has taken its place. */
  relieved: [];
  metrics: [metrics: readonly MetricSnapshot[]];
}

/** A child process as the primary sees it, from its start to its end. */
export class WorkerProcess extends EventEmitter<Events> {
  /** Which of the workers it is, from 1; whoever takes its place has the same number. */
  readonly place: number;
  /** Resolves with what ended it. */
  readonly exited: Promise<string>;
  port = 0;
  adminPort = 0;
  notReady: readonly string[] = ['starting'];
  /** How often somebody has looked since it was last heard of. */
  silentLooks = 0;
  readonly #worker: Worker;

  constructor(place: number) {
    super();
    this.place = place;
    this.#worker = cluster.fork({ [WORKER]: String(place) });
    this.exited = endOf(this.#worker);
    this.#worker.on('message', (report: WorkerMessage) => this.#take(report));
  }

  /** Counts up, over all places. */
  get id(): number {
    return this.#worker.id;
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  get listening(): boolean {
    return this.port > 0;
  }

  get ready(): boolean {
    return this.listening && this.notReady.length === 0;
  }

  /** @returns undefined once it is so; what ended the process if that comes first */
  async until(state: 'listening' | 'ready'): Promise<string | undefined> {
    const done = new AbortController();
    const { signal } = done;
    try {
      while (!this[state]) {
        const change = once(this, 'change', { signal }).then(() => undefined);
        const end = await Promise.race([this.exited, change]);
        if (end !== undefined) {
          change.catch(() => undefined);
          return end;
        }
      }
      return undefined;
    } finally {
      done.abort();
    }
  }

  /** Asks for its metrics; resolves when they are here, or it is gone, or the signal aborts. */
  async collect(signal: AbortSignal): Promise<void> {
    const here = once(this, 'metrics', { signal }).catch(() => undefined);
    this.tell({ type: 'collect' });
    await Promise.race([here, this.exited]);
  }

  tell(order: PrimaryMessage): void {
    if (this.#worker.isConnected()) this.#worker.send(order, () => undefined);
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  #take(report: WorkerMessage): void {
    this.silentLooks = 0;
    switch (report.type) {
      case 'listening':
        this.port = report.port;
        this.adminPort = report.adminPort;
        this.emit('change');
        break;
      case 'state':
        this.notReady = report.notReady;
        this.emit('change');
        break;
      case 'metrics':
        this.emit('metrics', report.metrics);
        break;
    }
  }
}

/** Resolves with what ended it, also if it never began. Not by `once` of events, which an error of the channel ends. */
function endOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    // What it has sent before its end has been heard once the channel is closed, too.
    const disconnected = new Promise((gone) => worker.once('disconnect', gone));
    worker.once('exit', (code, signal) => {
      void disconnected.then(() => resolve(signal ?? `exit code ${code}`));
    });
    worker.on('error', (error) => {
      // A channel that breaks, as when a connection is handed to a process that has just died, is followed by the exit.
      if (worker.process.pid === undefined) resolve(messageOf(error));
    });
  });
}
