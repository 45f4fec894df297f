import { ProgressLine } from '../report/progress-line.ts';
import type { Load, Run } from '../report/report.ts';
import type { Target } from '../targets/target.ts';
import { runLoad, type RunObserver } from './load-run.ts';
import { prepare } from './wiring.ts';

/** Runs a load on a target, with a topic and a graph of its own, which are removed afterwards. */
export async function measure(target: Target, asked: Load, observer: RunObserver): Promise<Run> {
  const load = target.load?.(asked) ?? asked;
  const { wiring, undo } = await prepare(load);
  try {
    return await runLoad(target, load, wiring, observer);
  } finally {
    await undo();
  }
}

/** Runs a load on one target after the other, with a progress line on standard error. */
export async function measureEach(
  targets: readonly Target[],
  load: Load,
  signal: AbortSignal,
): Promise<Run[]> {
  const line = new ProgressLine(process.stderr);
  const runs: Run[] = [];
  for (const target of targets) {
    runs.push(await measure(target, load, { sample: (...seen) => line.show(...seen), signal }));
    line.clear();
  }
  return runs;
}

/** @returns a signal that is aborted when the process gets SIGINT or SIGTERM */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort(new Error(`interrupted by ${signal}`)));
  }
  return controller.signal;
}
