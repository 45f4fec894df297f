import { largest } from '../../support/largest.ts';
import type { Connection } from './connection.ts';
import type { ConnectionServices } from './connection-services.ts';

export interface SocketsInspection {
  readonly count: number;
  /** Those that are not yet acknowledged. */
  readonly handshakes: number;
  /** Of all connections. */
  readonly operations: number;
  /** Viewers that `VIEWER_ID` identifies. */
  readonly viewers: number;
  readonly waitingBytes: number;
  readonly slowest: readonly { readonly waitingBytes: number; readonly operations: number }[];
}

/** Bytes that wait for clients to read them, and the connections with most of them. Nothing identifies the client. */
export function inspectSockets(
  connections: Iterable<Connection>,
  { handshakes, pod, viewers }: Pick<ConnectionServices<Connection>, 'handshakes' | 'pod' | 'viewers'>,
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
