/**
 * The server that a careful engineer writes without Sluice: it converts keys once for each event in the cluster, Redis
 * hands the event to every process, and graphql-js executes it for each subscriber.
 */
import snakecaseKeys from 'snakecase-keys';
import { listenWith } from './graphql-ws-server.ts';
import { serve } from './readme-server.ts';

await serve({
  consume: 'eachMessage',
  transform: (event) => snakecaseKeys(event),
  listen: listenWith((schema) => ({ schema })),
});
