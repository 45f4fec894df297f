import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { messageOf } from '../errors.ts';
import { WORKER, type MetricSnapshot, type PrimaryMessage, type WorkerMessage } from './messages.ts';

interface Events {
  /** The worker's `listening` or `ready` may have changed. */
  change: [];
  /** Another worker has taken over its slot. */
  replaced: [];
  /** The worker waits for the revocations before it accepts clients. */
  starting: [];
  metrics: [metrics: readonly MetricSnapshot[]];
}

/** The primary's view of one worker process, from its start to its end. */
export class WorkerProcess extends EventEmitter<Events> {
  /** Number of the slot, from 1; a worker and the one that replaces it have the same. */
  readonly slot: number;
  /** Resolves with the exit code (`exit code 0`), the signal, or the error of starting. */
  readonly exited: Promise<string>;
  port = 0;
  adminPort = 0;
  notReady: readonly string[] = ['starting'];
  /** Number of the primary's checks since the worker's last message. */
  missedChecks = 0;
  readonly #worker: Worker;

  constructor(slot: number) {
    super();
    this.slot = slot;
    this.#worker = cluster.fork({ [WORKER]: String(slot) });
    this.exited = endOf(this.#worker);
    this.#worker.on('message', (message: WorkerMessage) => this.#onMessage(message));
  }

  /** Number of the process over all slots: each new process has a higher one. */
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

  /** @returns undefined once the worker is in that state; how it ended, as in `exited`, if that comes first */
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

  /** Requests the worker's metrics. Resolves when they have arrived, the worker has exited, or the signal aborts. */
  async collect(signal: AbortSignal): Promise<void> {
    const arrived = once(this, 'metrics', { signal }).catch(() => undefined);
    this.send({ type: 'collect' });
    await Promise.race([arrived, this.exited]);
  }

  send(message: PrimaryMessage): void {
    if (this.#worker.isConnected()) this.#worker.send(message, () => undefined);
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  #onMessage(message: WorkerMessage): void {
    this.missedChecks = 0;
    switch (message.type) {
      case 'listening':
        this.port = message.port;
        this.adminPort = message.adminPort;
        this.emit('change');
        break;
      case 'state':
        this.notReady = message.notReady;
        this.emit('change');
        break;
      case 'starting':
        this.emit('starting');
        break;
      case 'metrics':
        this.emit('metrics', message.metrics);
        break;
    }
  }
}

/**
 * Resolves with how the process ended, also if it could not be started. Does not use `once` of `node:events`, which
 * would reject at an error of the IPC channel.
 */
function endOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    // Messages that the worker sent before its exit have been received when the IPC channel is closed.
    const disconnected = new Promise((resolveDisconnected) => worker.once('disconnect', resolveDisconnected));
    worker.once('exit', (code, signal) => {
      void disconnected.then(() => resolve(signal ?? `exit code ${code}`));
    });
    worker.on('error', (error) => {
      // An error of the IPC channel (a connection was passed to a process that has just died, say) precedes the exit.
      if (worker.process.pid === undefined) resolve(messageOf(error));
    });
  });
}
