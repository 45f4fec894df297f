import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below the ports that Linux and macOS give to connections: one of those may be free now, and be the end of another
 * test's connection a moment later.
 */
const [FIRST, AFTER] = [20_000, 26_000];

/**
 * A server may not listen yet when this or another process of the run asks for a port. So a port is locked: this
 * process listens on the port this far above it until it ends.
 */
const TO_LOCK = AFTER - FIRST;

/** @returns a loopback port without a server, each port only once; for servers that can't listen on port 0 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, AFTER);
    const lock = await listening(port + TO_LOCK);
    if (lock === undefined) continue;
    const server = await listening(port);
    if (server === undefined) {
      lock.close();
      continue;
    }
    lock.unref();
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** @returns undefined if the port is in use */
async function listening(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
