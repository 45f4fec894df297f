import { readFileSync } from 'node:fs';

/** The unit of `/proc/<pid>/stat`: Linux counts in hundredths of a second on every machine that Node.js runs on. */
const TICKS_PER_SECOND = 100;

/** The unit of `/proc/<pid>/statm`. */
const PAGE_BYTES = 4_096;

/** The kernel's figures on a process and its children. They come even while the processes are busy. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** @throws if there is no such process, or the system is not Linux */
export function usageOf(pid: number): Usage {
  return sumOf(
    treeOf(pid).map((each) => ({ cpuSeconds: cpuSeconds(each), residentBytes: residentBytes(each) })),
  );
}

export function sumOf(usages: readonly Usage[]): Usage {
  return usages.reduce((sum, usage) => ({
    cpuSeconds: sum.cpuSeconds + usage.cpuSeconds,
    residentBytes: sum.residentBytes + usage.residentBytes,
  }));
}

/** Follows the last child, its last child, and so on; returns the process itself if it has no child. */
export function lastChildOf(pid: number): number {
  return treeOf(pid).at(-1) ?? pid;
}

function treeOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => treeOf(Number(child))))];
}

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the name, may hold any character; the fields after its bracket are plain. User time is field 14.
  const [, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

function residentBytes(pid: number): number {
  const [, resident] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return Number(resident) * PAGE_BYTES;
}
