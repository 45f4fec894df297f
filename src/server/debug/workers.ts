import { sendJson } from '../respond.ts';
import type { Handle } from '../router.ts';

/** One process of a pod that clients can connect to. */
export interface WorkerState {
  /** Counted from 1: the value of `?worker=`. */
  readonly worker: number;
  /** Undefined while there is no process: it is being restarted. */
  readonly pid: number | undefined;
  readonly ready: boolean;
}

/** `/debug/workers`: the processes of the pod. */
export function workersState(workers: () => readonly WorkerState[]): Handle {
  return (_request, response) =>
    sendJson(response, 200, { workers: workers() }, { 'cache-control': 'no-store' });
}

/** The state of a pod that is one process. */
export const soleWorker = workersState(() => [{ worker: 1, pid: process.pid, ready: true }]);
