import type { Server } from 'node:net';

/** ms between two searches for idle connections: each goes through all connections. */
const PAUSE_MS = 100;

/**
 * Closes all idle keep-alive connections whenever a server has room for no more than a twentieth of its connections. Caps
 * of addresses hold for WebSockets: without this, one client with idle connections could keep all others out for as long as
 * it repeats its requests. Peers reconnect when they have a request. Connections that have not sent a request yet, that
 * have an unfinished request, or that were upgraded are not idle.
 */
export function closeIdleWhenFull(server: Server, maxSockets: number, close: () => void): void {
  const enough = maxSockets - Math.ceil(maxSockets / 20);
  let pausing = false;
  let again = false;
  const closeIdle = (): void => {
    again = pausing;
    if (pausing) return;
    close();
    pausing = true;
    setTimeout(() => {
      pausing = false;
      if (again) closeIdle();
    }, PAUSE_MS).unref();
  };
  server.on('connection', () => {
    server.getConnections((_error, count) => {
      if (count > enough) closeIdle();
    });
  });
  // Connections may have become idle since the last one was accepted.
  server.on('drop', closeIdle);
}
