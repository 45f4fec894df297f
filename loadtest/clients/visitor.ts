import { RawClient } from './raw-client.ts';

/**
 * Connects one more client, which leaves as soon as it is acknowledged.
 *
 * @returns ms from connecting to the acknowledgement; undefined if there was none
 */
export function visit(endpoint: { host: string; port: number }): Promise<number | undefined> {
  const began = performance.now();
  return new Promise((resolve) => {
    const client = new RawClient(endpoint, '127.0.0.1', {
      acknowledged: () => {
        resolve(performance.now() - began);
        client.destroy();
      },
      text: () => undefined,
      ended: () => resolve(undefined),
    });
  });
}
