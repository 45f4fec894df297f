import { QUERY } from '../run/workload.ts';
import type { Assignment } from './client-messages.ts';
import { messagesOf } from './transports.ts';

/**
 * Connects one more client, which leaves as soon as it is acknowledged.
 *
 * @returns ms from connecting to the acknowledgement; undefined if there was none
 */
export function visit(
  endpoint: { host: string; port: number },
  load: Assignment['load'],
): Promise<number | undefined> {
  const began = performance.now();
  return new Promise((resolve) => {
    const receiver = {
      acknowledged: () => {
        resolve(performance.now() - began);
        client.destroy();
      },
      text: () => undefined,
      ended: () => resolve(undefined),
    };
    const client = messagesOf(load.transport).connect(endpoint, '127.0.0.1', receiver, '1', { query: QUERY });
  });
}
