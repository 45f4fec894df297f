import { prepare } from './environment.ts';
import type { Load, Run } from '../report/report.ts';
import { runLoad, type Watcher } from './load-run.ts';
import type { Target } from '../targets/target.ts';

/** Runs a load on a target, on a topic and a graph of the run's own, which are gone afterwards. */
export async function measure(target: Target, load: Load, watcher: Watcher): Promise<Run> {
  const { wiring, undo } = await prepare(load);
  try {
    return await runLoad(target, load, wiring, watcher);
  } finally {
    await undo();
  }
}

/** Aborted when whoever has started the program wants it to end. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort(new Error(`interrupted by ${signal}`)));
  }
  return controller.signal;
}
