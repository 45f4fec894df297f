import { once } from 'node:events';
import { Redis } from 'ioredis';
import { ended, spawnFor } from './child-process.ts';
import { freePort } from './free-port.ts';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Resolves when the process has ended. Its data are gone, unless the server keeps them. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal that does not end the process. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves when the server accepts connections, on the same port as before. */
  start(): Promise<void>;
}

/**
 * A server of the test's own, which can be stopped without disturbing other tests. Needs 'redis-server'.
 *
 * @param keeps writes all data to disk, and has them when the server starts again
 * @param args further arguments
 */
export async function startRedis(
  scope: Scope,
  { keeps = false, args = [] }: { keeps?: boolean; args?: readonly string[] } = {},
): Promise<RedisServer> {
  const port = await freePort();
  const kept = keeps ? await temporaryFolder(scope) : undefined;
  // Without `keeps`, each start gets an empty folder: a replica writes its master's data to disk.
  const launch = async () => launchIn(scope, kept ?? (await temporaryFolder(scope)), port, keeps, args);
  let child = await launch();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    stop: (signal = 'SIGTERM') => ended(child, signal),
    signal: (signal) => void child.kill(signal),
    async start() {
      child = await launch();
    },
  };
}

/** A connection of the test's own, which ignores errors, so that the server can be stopped. */
export async function redisAdmin(t: Scope, { url }: Pick<RedisServer, 'url'>): Promise<Redis> {
  const client = new Redis(url);
  client.on('error', () => undefined);
  t.after(() => client.disconnect());
  await client.ping();
  return client;
}

async function launchIn(
  scope: Scope,
  folder: string,
  port: number,
  keeps: boolean,
  further: readonly string[],
): Promise<ReturnType<typeof spawnFor>> {
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder];
  // Writes go to disk before they are acknowledged: otherwise Redis could lose some seconds with a slow disk.
  args.push('--save', '', '--appendonly', keeps ? 'yes' : 'no', '--appendfsync', 'always');
  // A replica gets its data at once, and not after 5 s in which further replicas might ask for it.
  args.push('--repl-diskless-sync-delay', '0', ...further);
  const child = spawnFor(scope, 'redis-server', args);
  const exit = once(child, 'exit').then(([code]) => {
    throw new Error(`Expected redis-server to listen on ${port}, but it ended with ${code}:\n${output}`);
  });
  let output = '';
  const listening = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Ready to accept connections')) resolve();
    });
  });
  await Promise.race([listening, exit]);
  exit.catch(() => {});
  return child;
}
