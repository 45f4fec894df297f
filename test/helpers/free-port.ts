import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that Linux and macOS give to connections: a port of theirs that is free now may be another test's end of a
 * connection a moment later.
 */
const [FIRST, AFTER] = [20_000, 32_000];

/** A server may not listen yet when the port of the next one is asked for. */
const given = new Set<number>();

/** @returns a loopback port on which no server listens now, each once; for servers that can't listen on port 0 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, AFTER);
    if (given.has(port)) continue;
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    given.add(port);
    return port;
  }
}
