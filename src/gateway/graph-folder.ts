import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config/settings.ts';

/** The default of `GRAPH` if no folder has a schema: see `withGraph`. This graph is compiled with the gateway. */
const BUNDLED_GRAPH = 'examples/auction';

export const BUNDLED_FOLDER = path.join(import.meta.dirname, '../..', BUNDLED_GRAPH);

/** Where the graph is loaded from. */
export function graphFolderOf({ GRAPH }: Pick<Config, 'GRAPH'>): string {
  return GRAPH === BUNDLED_GRAPH ? BUNDLED_FOLDER : path.resolve(GRAPH);
}

/**
 * The environment with `GRAPH` set to the folder of the graph: the named one, else the one in the environment, else `graph`
 * or the working directory if it holds a schema.
 */
export function withGraph(env: NodeJS.ProcessEnv, named?: string): NodeJS.ProcessEnv {
  // An empty variable counts as not set.
  const graph = named ?? (env['GRAPH'] || ['graph', '.'].find(holdsSchema));
  return graph === undefined ? env : { ...env, GRAPH: graph };
}

function holdsSchema(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.endsWith('.graphql'));
  } catch {
    return false;
  }
}
