import { largest } from '../../support/largest.ts';

interface Waiting {
  readonly open: boolean;
  readonly sendQueue: { readonly waitingBytes: number };
}

/** In a burst, so much may wait even for a client that reads. */
const FROM_BYTES = 64 * 1024;

/** The share of these connections that is shed at once: many have to be shed soon, but a few may be enough. */
const SHARE = 1 / 3;

/** The connections to shed next: of those with much waiting, the share with most waiting. */
export function mostWaiting<Connection extends Waiting>(connections: Iterable<Connection>): Connection[] {
  const waiting: { connection: Connection; bytes: number }[] = [];
  for (const connection of connections) {
    const bytes = connection.sendQueue.waitingBytes;
    if (bytes > FROM_BYTES && connection.open) waiting.push({ connection, bytes });
  }
  const count = Math.ceil(waiting.length * SHARE);
  return largest(waiting, count, ({ bytes }) => bytes).map(({ connection }) => connection);
}
