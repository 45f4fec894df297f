import type { RequestHead } from '../../graph/api/context.ts';
import type { Json } from '../../lazy/reads.ts';
import type { ClientConnection } from '../connections/client-connection.ts';
import { DISCONNECTS } from '../connections/disconnect.ts';
import type { ViewerTally } from '../connections/viewers.ts';
import type { ConnectionServices } from './connection-services.ts';

/** The part of a connection that changes when its client is let in. */
interface Admitted extends ClientConnection {
  /** Sets the tally of its viewer; undefined if nothing identifies the viewer. */
  countAs(tally: ViewerTally | undefined): void;
}

type AdmitServices = Pick<ConnectionServices<ClientConnection>, 'authenticator' | 'connections' | 'metrics'>;

/**
 * Identifies the client of a connection, and lets it in.
 *
 * @param params payload of `connection_init`
 * @returns false if it is refused
 */
export async function admit(
  connection: Admitted,
  params: Readonly<Record<string, unknown>>,
  request: RequestHead,
  { authenticator, connections, metrics }: AdmitServices,
): Promise<boolean> {
  const { sessions, handshakes, viewers } = connections;
  let viewer: Json = null;
  if (sessions === undefined) connection.become((viewer = await authenticator.viewerOf(params, request)));
  const isKnown =
    sessions === undefined ? viewer !== null : await sessions.admit(connection, params, request);
  handshakes.delete(connection);
  if (!isKnown) return false;
  // If it has closed meanwhile, it must not be counted: it would stay counted for ever.
  const tally = connection.open ? viewers.enter(connection.viewer) : undefined;
  if (tally === false) {
    metrics.refused('connections_of_viewer');
    connection.end(DISCONNECTS.viewerConnections);
    return false;
  }
  connection.countAs(tally);
  return true;
}
