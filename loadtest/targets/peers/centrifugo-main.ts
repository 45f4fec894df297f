/**
 * Centrifugo, which speaks a protocol of its own in place of GraphQL: the program that PROGRAM names, with its own consumer of
 * Kafka, and with Redis. It is this process's child, and counted with it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const { PROGRAM = '', KAFKA_BROKERS = '', REDIS_URL, GROUP_ID, TOPIC } = process.env;

const HOST = '127.0.0.1';

const POLL_MS = 100;

const port = await freePort();
const folder = await mkdtemp(path.join(tmpdir(), 'centrifugo-'));
const file = path.join(folder, 'config.json');
await writeFile(file, JSON.stringify(configuration()));
const child = spawn(PROGRAM, ['--config', file], { stdio: ['ignore', process.stderr, process.stderr] });

let isStopping = false;
process.once('SIGTERM', () => {
  isStopping = true;
  child.kill('SIGTERM');
});
child.once('error', (error) => console.error(error));
child.once('close', async () => {
  await rm(folder, { recursive: true });
  process.exit(isStopping ? 0 : 1);
});

while (!(await isHealthy())) await delay(POLL_MS);
console.log(JSON.stringify({ msg: 'listening', port }));

function configuration(): object {
  return {
    http_server: { address: HOST, port: String(port) },
    health: { enabled: true },
    client: { allowed_origins: ['*'], allow_anonymous_connect_without_token: true },
    channel: {
      without_namespace: { allow_subscribe_for_client: true, allow_subscribe_for_anonymous: true },
    },
    engine: { type: 'redis', redis: { address: REDIS_URL, prefix: GROUP_ID } },
    consumers: [
      {
        enabled: true,
        name: 'events',
        type: 'kafka',
        kafka: { brokers: KAFKA_BROKERS.split(','), topics: [TOPIC], consumer_group: GROUP_ID },
      },
    ],
  };
}

async function isHealthy(): Promise<boolean> {
  const response = await fetch(`http://${HOST}:${port}/health`).catch(() => undefined);
  return response?.ok === true;
}

/** It can't choose one by itself. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return free;
}
