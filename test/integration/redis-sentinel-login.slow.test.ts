import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { selfSigned } from '../helpers/certificate.ts';
import { startGateway, startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { startRedis } from '../helpers/redis.ts';
import { NAME, startSentinel } from '../helpers/redis-sentinel.ts';
import { startTlsRedis, tlsSettings } from '../helpers/redis-tls.ts';
import { testNeeding } from '../helpers/services.ts';

const test = testNeeding('redis-server');

test('the gateway asks Sentinel for Redis over TLS, and logs in to both', async (t) => {
  const own = await selfSigned(t);
  const user = ['--user', 'gateway', 'on', '>open sesame', '~*', '&*', '+@all'];
  const port = await startTlsRedis(t, own, ...user);
  const sentinel = await startSentinel(t, port, 1, (listening) => [
    'port 0',
    `tls-port ${listening}`,
    'tls-replication yes',
    ...Object.entries(tlsSettings(own)).map(([name, value]) => `${name} ${value}`),
    'requirepass "swordfish"',
  ]);
  const graph = await itemGraph(t, 'items');
  const settings = {
    GRAPH: graph,
    REDIS_SENTINELS: `localhost:${sentinel}`,
    REDIS_SENTINEL_MASTER: NAME,
    REDIS_USERNAME: 'gateway',
    REDIS_PASSWORD: 'open sesame',
    REDIS_SENTINEL_PASSWORD: 'swordfish',
    REDIS_TLS: 'true',
  };
  const trusting = await startReady(t, { ...settings, REDIS_CA: own.certificateFile });
  const doubting = await startGateway(t, settings);
  await doubting.untilLog(
    /no Sentinel tells the address of mymaster: localhost:\d+: self-signed certificate/,
  );
  await doubting.untilNotReady(/Redis/);
  const stranger = await startGateway(t, {
    ...settings,
    REDIS_CA: own.certificateFile,
    REDIS_SENTINEL_PASSWORD: 'wrong',
  });
  await stranger.untilLog(/no Sentinel tells the address of mymaster: localhost:\d+: WRONGPASS/);
  await stranger.untilNotReady(/Redis/);
  for (const gateway of [trusting, doubting, stranger]) {
    await gateway.stop();
    assert.doesNotMatch(JSON.stringify(gateway.lines), /sesame|swordfish/);
  }
});

test('a password for Sentinel that is replaced in its file is used from the next connection on', async (t) => {
  const redis = await startRedis(t);
  const sentinel = await startSentinel(t, redis.port, 1, (port) => [`port ${port}`, 'requirepass "second"']);
  const graph = await itemGraph(t, 'items');
  const file = path.join(graph, 'password');
  await writeFile(file, 'first\n');
  const gateway = await startGateway(t, {
    GRAPH: graph,
    REDIS_SENTINELS: `127.0.0.1:${sentinel}`,
    REDIS_SENTINEL_MASTER: NAME,
    REDIS_SENTINEL_PASSWORD_FILE: file,
  });
  await gateway.untilLog(/WRONGPASS/);
  await writeFile(file, 'second\n');
  await gateway.untilReady();
  await gateway.stop();
  assert.doesNotMatch(JSON.stringify(gateway.lines), /"first|second"/);
});
