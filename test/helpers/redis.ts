import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { ended, spawnFor } from './child-process.ts';
import { freePort } from './free-port.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Resolves when the process is gone. It forgets everything. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Resolves when it accepts connections, on the same port as before. */
  start(): Promise<void>;
}

/** A server of the test's own, to be stopped without disturbing other tests. Needs 'redis-server'. */
export async function startRedis(t: TestContext): Promise<RedisServer> {
  const port = await freePort();
  let child = await launch(t, port);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    stop: (signal = 'SIGTERM') => ended(child, signal),
    async start() {
      child = await launch(t, port);
    },
  };
}

/** A connection of the test's own, which does not mind if the server is stopped. */
export async function redisAdmin(t: TestContext, { url }: Pick<RedisServer, 'url'>): Promise<Redis> {
  const client = new Redis(url);
  client.on('error', () => undefined);
  t.after(() => client.disconnect());
  await client.ping();
  return client;
}

async function launch(t: TestContext, port: number): Promise<ReturnType<typeof spawnFor>> {
  // A replica writes down what its master sends, wherever it runs.
  const folder = await temporaryFolder(t);
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder];
  args.push('--save', '', '--appendonly', 'no');
  const child = spawnFor(t, 'redis-server', args);
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
