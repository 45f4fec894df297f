import path from 'node:path';
import type { Config } from '../config/settings.ts';

/** The default of `GRAPH`. This graph is compiled with the gateway. */
const BUNDLED_GRAPH = 'examples/auction';

export const BUNDLED_FOLDER = path.join(import.meta.dirname, '../..', BUNDLED_GRAPH);

/** Where the graph is loaded from. */
export function graphFolderOf({ GRAPH }: Pick<Config, 'GRAPH'>): string {
  return GRAPH === BUNDLED_GRAPH ? BUNDLED_FOLDER : path.resolve(GRAPH);
}
