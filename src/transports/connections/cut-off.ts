import type { Disconnect } from './disconnect.ts';

interface Closable {
  readonly open: boolean;
  end(disconnect: Disconnect): void;
  terminate(): void;
}

/** How long a client whose connection is closed has to read the reason, and to answer the close frame. */
const TERMINATE_AFTER_MS = 1_000;

/** Closes the connection of a client that may not read any more. */
export function cutOff(connection: Closable, disconnect: Disconnect): void {
  if (!connection.open) return;
  connection.end(disconnect);
  terminateLater(connection);
}

/** Ends a connection that is being closed, though its client may not have answered. */
export function terminateLater(connection: Pick<Closable, 'terminate'>): void {
  setTimeout(() => connection.terminate(), TERMINATE_AFTER_MS).unref();
}
