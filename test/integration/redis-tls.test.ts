import assert from 'node:assert/strict';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { Authority } from '../helpers/authority.ts';
import { selfSigned } from '../helpers/certificate.ts';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { startTlsRedis } from '../helpers/redis-tls.ts';
import { testNeeding } from '../helpers/services.ts';

const test = testNeeding('redis-server');

test('the gateway reaches Redis over TLS, with a private certificate authority and a password', async (t) => {
  const own = await selfSigned(t);
  const port = await startTlsRedis(t, own, '--requirepass', 'open sesame');
  const graph = await itemGraph(t, 'items');
  const settings = { GRAPH: graph, REDIS_URL: `rediss://:open%20sesame@localhost:${port}` };
  const trusting = await startReady(t, { ...settings, REDIS_CA: own.certificateFile });
  const doubting = await startGateway(t, settings);
  await doubting.untilNotReady(/Redis/);
  for (const gateway of [trusting, doubting]) {
    await gateway.stop();
    assert.doesNotMatch(JSON.stringify(gateway.lines), /sesame/);
  }
});

test('a Redis that wants certificates is shown one: that of before, while a new one is half written or lacks its key', async (t) => {
  const authority = await Authority.create(t);
  const [own, former, next] = [
    await authority.issue('redis'),
    await authority.issue('former'),
    await authority.issue('next'),
  ];
  const port = await startTlsRedis(t, { ...own, caFile: authority.certificateFile, asksClients: true });
  const graph = await itemGraph(t, 'items');
  const [cert, key] = [path.join(graph, 'cert.pem'), path.join(graph, 'key.pem')];
  await copyFile(former.certificateFile, cert);
  await copyFile(former.keyFile, key);
  const REDIS_CA = authority.certificateFile;
  const settings = { GRAPH: graph, REDIS_URL: `rediss://localhost:${port}`, REDIS_CA };
  const gateway = await startReady(t, { ...settings, REDIS_CERT: cert, REDIS_KEY: key });
  const stranger = await startGateway(t, settings);
  await stranger.untilNotReady(/Redis/);
  await stranger.stop();
  const [ca, shown, secret] = await Promise.all(
    [authority.certificateFile, own.certificateFile, own.keyFile].map((file) => readFile(file, 'utf8')),
  );
  const admin = new Redis({ host: 'localhost', port, tls: { ca, cert: shown, key: secret } });
  t.after(() => admin.disconnect());
  let wanted = 0;
  /** Both connections have been made so many times. */
  const untilBothAre = async (): Promise<void> => {
    wanted += 2;
    await eventually(() => {
      const connects = gateway.lines.filter(({ msg }) => msg === 'connected to Redis').length;
      assert.ok(connects >= wanted, `expected ${wanted} connections so far, got ${connects}`);
    });
  };
  await untilBothAre();
  const untilBothAgain = async (): Promise<void> => {
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await untilBothAre();
  };
  const whole = await readFile(next.certificateFile, 'utf8');
  await writeFile(cert, whole.slice(0, whole.length / 2));
  await untilBothAgain();
  await gateway.untilLog(/connecting to Redis with what was read before.*REDIS_CERT|REDIS_CERT.*read before/);
  await writeFile(cert, whole);
  await untilBothAgain();
  await gateway.untilLog(/REDIS_KEY: expected a file with the key of REDIS_CERT.*read before/);
  await copyFile(next.keyFile, key);
  await untilBothAgain();
});
