/** A Redis server for tests, which stores nothing on disk. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { ensureCommands, findCommand } from './commands.mjs';
import { accepts, exchange, LOOPBACK } from './network.mjs';
import { dataFolder } from './places.mjs';
import { startServer, waitUntilReady } from './processes.mjs';

const READY_TIMEOUT_MS = 10_000;
const PORT = 6379;

const folder = path.join(dataFolder, 'redis');
const logFile = path.join(folder, 'log');

export const redis = {
  name: 'Redis',
  variable: 'REDIS_URL',
  addressAt: (port) => `redis://${LOOPBACK}:${port}`,

  /** Checks only that the server is reachable: clients log in. */
  async reaches(url) {
    const { hostname, port } = new URL(url);
    return accepts(hostname.replace(/^\[|\]$/g, ''), Number(port) || PORT);
  },

  async answers({ port }) {
    const request = Buffer.from('PING\r\n');
    const answer = await exchange(LOOPBACK, port, request, (received) =>
      received.includes('\r\n') ? received.toString() : undefined,
    );
    return answer === '+PONG\r\n';
  },

  install: () => ensureCommands('redis-server'),

  /** @param {(identity: import('./processes.mjs').Identity) => void} started called at once, long before it is ready */
  async start({ port }, started) {
    mkdirSync(folder, { recursive: true });
    const args = ['--bind', LOOPBACK, '--port', port, '--dir', folder, '--save', '', '--appendonly', 'no'];
    const pid = startServer(findCommand('redis-server'), args.map(String), { cwd: folder, logFile });
    // Redis renames its process to `redis-server <address>:<port>`.
    const identity = { pid, marks: ['redis-server', String(port)] };
    started(identity);
    const about = { name: redis.name, timeoutMs: READY_TIMEOUT_MS, server: identity, logFile };
    await waitUntilReady(() => redis.answers({ port }), about);
  },
};
