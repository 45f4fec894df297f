import { tellRefusal, type Counted } from '../gateway/reload-counts.ts';
import type { Log } from '../log.ts';
import { checkApart } from './check-apart.ts';

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
