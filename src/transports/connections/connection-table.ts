import { shortened } from '../../support/shortened.ts';
import { Table } from '../../support/table.ts';
import type { ClientConnection } from './client-connection.ts';

/** Most characters of a viewer's id that are shown: ids may be long. */
const MAX_VIEWER = 100;

/**
 * All connections as a table, however many there are.
 *
 * @param now ms since 1970
 */
export function connectionTable(
  connections: ReadonlySet<ClientConnection>,
  isHandshake: (connection: ClientConnection) => boolean,
  now: () => number,
): Table<ClientConnection> {
  const ageSeconds = ({ openedAt }: ClientConnection): number =>
    Math.max(0, Math.floor(now() / 1_000) - openedAt);
  const slowSeconds = ({ sendQueue }: ClientConnection): number | undefined =>
    sendQueue.slowSince && Math.max(0, now() - sendQueue.slowSince) / 1_000;
  const stateOf = (connection: ClientConnection): string => {
    if (!connection.open) return 'closing';
    return isHandshake(connection) ? 'handshake' : 'open';
  };
  return new Table<ClientConnection>({
    size: () => connections.size,
    items: () => connections,
    columns: {
      waitingBytes: ({ sendQueue }) => sendQueue.waitingBytes,
      slowSeconds,
      ageSeconds,
      operations: ({ operations }) => operations,
      channels: ({ channels }) => channels,
      transport: ({ transport }) => transport,
      viewer: ({ viewerTally }) => viewerTally?.id,
      state: stateOf,
    },
    text: (connection) =>
      [connection.id, connection.transport, connection.viewerTally?.id ?? '', stateOf(connection)].join('\n'),
    row: (connection) => {
      const { id, transport, viewerTally, operations, channels, sendQueue } = connection;
      return {
        id,
        transport,
        viewer: viewerTally === undefined ? null : shortened(viewerTally.id, MAX_VIEWER),
        state: stateOf(connection),
        ageSeconds: ageSeconds(connection),
        operations,
        channels,
        waitingBytes: sendQueue.waitingBytes,
        slowSeconds: slowSeconds(connection) ?? null,
      };
    },
  });
}
