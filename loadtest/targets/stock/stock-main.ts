/**
 * What a careful engineer writes without Sluice: keys are converted once for each event and cluster, Redis hands it to
 * every process, and graphql-js executes it for each subscriber.
 */
import snakecaseKeys from 'snakecase-keys';
import { listenWith } from './graphql-ws-server.ts';
import { serve } from './readme-server.ts';

await serve({
  consume: 'eachMessage',
  transform: (event) => snakecaseKeys(event),
  listen: listenWith((schema) => ({ schema })),
});
