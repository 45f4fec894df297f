import { largest } from '../../support/largest.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Tally } from './viewers.ts';

export interface SocketsInspection {
  readonly count: number;
  /** The number of connections that are not yet acknowledged. */
  readonly handshakes: number;
  /** The number of operations of all connections. */
  readonly operations: number;
  /** Viewers that `VIEWER_ID` identifies. */
  readonly viewers: number;
  readonly waitingBytes: number;
  readonly slowest: readonly { readonly waitingBytes: number; readonly operations: number }[];
}

interface Counts {
  readonly handshakes: { readonly size: number };
  readonly pod: Readonly<Tally>;
  readonly viewers: { readonly size: number };
}

/** Bytes that wait for clients to read them, and the connections with most of them. Nothing identifies the client. */
export function inspectSockets(
  connections: Iterable<ClientConnection>,
  { handshakes, pod, viewers }: Counts,
  limit: number,
): SocketsInspection {
  const waiting = [...connections].map(({ sendQueue, operations }) => ({
    waitingBytes: sendQueue.waitingBytes,
    operations,
  }));
  return {
    count: waiting.length,
    handshakes: handshakes.size,
    operations: pod.operations,
    viewers: viewers.size,
    waitingBytes: waiting.reduce((sum, { waitingBytes }) => sum + waitingBytes, 0),
    slowest: largest(
      waiting.filter(({ waitingBytes }) => waitingBytes > 0),
      limit,
      ({ waitingBytes }) => waitingBytes,
    ),
  };
}
