import { largest } from '../../support/largest.ts';

interface Waiting {
  readonly open: boolean;
  readonly sendQueue: { readonly waitingBytes: number };
}

/** A client that reads may have so much waiting for it, in a burst. */
const FROM_BYTES = 64 * 1024;

/** The share of them that is shed at once: many have to be shed soon, and a few may turn out to be enough. */
const SHARE = 1 / 3;

/** The connections to be shed next: a share of those for which much waits, those for which most waits. */
export function mostWaiting<Connection extends Waiting>(connections: Iterable<Connection>): Connection[] {
  const waiting: { connection: Connection; bytes: number }[] = [];
  for (const connection of connections) {
    const bytes = connection.sendQueue.waitingBytes;
    if (bytes > FROM_BYTES && connection.open) waiting.push({ connection, bytes });
  }
  const count = Math.ceil(waiting.length * SHARE);
  return largest(waiting, count, ({ bytes }) => bytes).map(({ connection }) => connection);
}
