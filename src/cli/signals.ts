import type { Log } from '../log.ts';
import { closeSync, openSync } from 'node:fs';

/** The gateway of this process, or the primary of several workers. */
export interface Pod {
  drain(): Promise<void>;
  stop(): Promise<void>;
  reload(): unknown;
}

/** A signal within this time of the first is a copy of it. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Called before the pod exists: the first process of a container has no default handlers, so a signal that arrives
 * while the graph is loaded would be ignored.
 */
export function stopOnSignal(current: () => Pod | undefined, log: Log): void {
  let stoppingSince: number | undefined;
  const on = (signal: NodeJS.Signals, stop: (pod: Pod) => Promise<void>): void => {
    process.on(signal, () => {
      if (stoppingSince !== undefined) {
        // A signal to the whole process group comes a second time by way of npm, which passes it on.
        if (performance.now() - stoppingSince < SAME_SIGNAL_MS) return;
        process.exit(1);
      }
      const pod = current();
      if (pod === undefined) process.exit(0);
      stoppingSince = performance.now();
      log.info({ signal }, 'stopping');
      stop(pod).then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'stopping failed');
          process.exit(1);
        },
      );
    });
  };
  on('SIGTERM', (pod) => pod.drain());
  // Ctrl-C at a terminal: the user waits for the process to end, so the pod is not drained.
  on('SIGINT', (pod) => pod.stop());
}

/** Reloads on SIGHUP. The signal has no effect while the graph is loaded for the first time: there is no pod yet. */
export function reloadOnSignal(current: () => Pod | undefined): void {
  const reload = (): void => {
    if (!hasLostTerminal()) return void current()?.reload();
    // Without a listener the signal ends the process.
    process.off('SIGHUP', reload);
    process.kill(process.pid, 'SIGHUP');
  };
  process.on('SIGHUP', reload);
}

/** Whether this process was started at a terminal that has been closed since: the kernel sends SIGHUP for that, too. */
function hasLostTerminal(): boolean {
  if (!process.stdout.isTTY) return false;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}
