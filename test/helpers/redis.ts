import { once } from 'node:events';
import { Redis } from 'ioredis';
import { ended, spawnFor } from './child-process.ts';
import { freePort } from './free-port.ts';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Resolves when the process is gone. It forgets everything, unless it keeps it. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal that it does not end by. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves when it accepts connections, on the same port as before. */
  start(): Promise<void>;
}

/**
 * A server of the test's own, to be stopped without disturbing other tests. Needs 'redis-server'.
 *
 * @param keeps writes all down, and has it when it starts again
 * @param args further ones
 */
export async function startRedis(
  scope: Scope,
  { keeps = false, args = [] }: { keeps?: boolean; args?: readonly string[] } = {},
): Promise<RedisServer> {
  const port = await freePort();
  const kept = keeps ? await temporaryFolder(scope) : undefined;
  // A replica writes down what its master sends, wherever it runs.
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

/** A connection of the test's own, which does not mind if the server is stopped. */
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
  // Written down before it is acknowledged: else a slow disk makes Redis lose some seconds.
  args.push('--save', '', '--appendonly', keeps ? 'yes' : 'no', '--appendfsync', 'always');
  // A replica has its data at once, and not after 5 s in which others might ask for it too.
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
