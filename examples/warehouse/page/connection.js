import { createClient } from 'graphql-ws';
import { resumable } from 'sluice/client';

const LONGEST_WAIT_MS = 10_000;

/**
 * A connection that begins anew whenever it is lost, and then gets what it has missed.
 *
 * @param {{ url: string, token: string, onState: (isLive: boolean) => void, onGap: () => void }} options
 */
export function connect({ url, token, onState, onGap }) {
  const client = createClient({
    url,
    connectionParams: { token },
    shouldRetry: () => true,
    retryAttempts: Infinity,
    retryWait: (retries) =>
      new Promise((resolve) => {
        setTimeout(resolve, Math.random() * Math.min(1000 * 2 ** retries, LONGEST_WAIT_MS));
      }),
    on: { connected: () => onState(true), closed: () => onState(false) },
  });
  return resumable(client, { onGap });
}
