import { tellRefusal, type Counted } from '../gateway/reload-counts.ts';
import type { Log } from '../log.ts';
import { execFile } from 'node:child_process';
import path from 'node:path';

const CLI = path.join(import.meta.dirname, '../cli.js');

/** Time for a check: a graph's code may wait for ever. */
const CHECK_MS = 60_000;

/** A line of `sluice check` that is not a hint on the line above it. */
const NEXT_FINDING = /\n(?=\S)/;

/**
 * Checks a graph in a process of its own, since checking runs its code.
 *
 * @returns the graph's faults except type errors, as `sluice check` prints them; none if the graph can be used
 */
export function checkApart(folder: string): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const options = { timeout: CHECK_MS, killSignal: 'SIGKILL' as const };
    execFile(process.execPath, [CLI, 'check', '--no-types', folder], options, (error, stdout, stderr) => {
      if (error === null) return resolve([]);
      const faults = stdout.split(NEXT_FINDING).filter((finding) => finding.includes(': error: '));
      const other = error.killed === true ? `sluice check did not end within ${CHECK_MS} ms` : stderr.trim();
      resolve(faults.length > 0 ? faults : [other]);
    });
  });
}

/**
 * Has workers replaced unless the graph can't be used. A rolling restart would find that out too, but only once a worker
 * does not become ready in time.
 *
 * @param reload replaces the workers one after the other
 */
export async function reloadChecked(
  folder: string,
  reload: () => Promise<void>,
  metrics: Counted,
  log: Log,
): Promise<void> {
  const faults = await checkApart(folder);
  if (faults.length > 0) tellRefusal(faults, metrics, log);
  else await reload();
}
