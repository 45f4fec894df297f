import { withGraph } from '../../gateway/graph-folder.ts';
import { ownGroup } from '../own-group.ts';

/** Settings of `sluice dev`; a variable of the environment takes precedence. */
const DEVELOPMENT = {
  WATCH_GRAPH: 'true',
  // The developer is the client.
  MASK_ERRORS: 'false',
  GRAPHIQL: 'true',
  // There is no load balancer that would have to notice the end.
  DRAIN_DELAY_SECONDS: '0',
  DRAIN_SECONDS: '0',
  KAFKA_GROUP_ID: ownGroup('sluice-dev'),
};

/** @param folder the graph's folder, as the command line names it */
export function developmentEnvironment(
  given: NodeJS.ProcessEnv,
  folder: string | undefined,
): NodeJS.ProcessEnv {
  // An empty variable counts as not set.
  const set = Object.entries(given).filter(([, value]) => value !== '');
  return withGraph({ ...DEVELOPMENT, ...Object.fromEntries(set) }, folder);
}
