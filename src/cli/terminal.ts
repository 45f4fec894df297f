import { closeSync, openSync } from 'node:fs';

/** Whether this process was started at a terminal that has been closed since: the kernel sends SIGHUP for that, too. */
export function hasLostTerminal(): boolean {
  if (!process.stdout.isTTY) return false;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}
