import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../helpers/eventually.ts';
import { startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { testNeeding } from '../helpers/services.ts';
import { testRefusedLogin } from './redis-refused-login.ts';

const test = testNeeding('redis-server');

test('a user and a password that are replaced in their files are used from the next connection on', async (t) => {
  const redis = await startRedis(t);
  const admin = await redisAdmin(t, redis);
  await admin.acl('SETUSER', 'gateway', 'on', '>first', '~*', '&*', '+@all');
  const graph = await itemGraph(t, 'items');
  const [user, file] = [path.join(graph, 'user'), path.join(graph, 'password')];
  await writeFile(user, 'gateway\n');
  await writeFile(file, 'first\n');
  const gateway = await startReady(t, {
    GRAPH: graph,
    REDIS_URL: redis.url,
    REDIS_USERNAME_FILE: user,
    REDIS_PASSWORD_FILE: file,
  });
  await rm(file);
  await admin.call('CLIENT', 'KILL', 'USER', 'gateway');
  await gateway.untilLog(/connecting to Redis with what was read before/);
  await eventually(async () => assert.match(String(await admin.client('LIST')), /user=gateway/));
  await admin.acl('SETUSER', 'gateway', 'resetpass', '>second');
  await admin.call('CLIENT', 'KILL', 'USER', 'gateway');
  await gateway.untilLog(/WRONGPASS/);
  await writeFile(file, 'second\n');
  const untilBothAre = (name: string): Promise<void> =>
    eventually(async () => {
      const clients = String(await admin.client('LIST'));
      assert.equal(clients.match(new RegExp(`user=${name} `, 'g'))?.length, 2, clients);
    });
  await untilBothAre('gateway');
  // As Vault does: another user with each password.
  await admin.acl('SETUSER', 'gateway-2', 'on', '>third', '~*', '&*', '+@all');
  await writeFile(user, 'gateway-2\n');
  await writeFile(file, 'third\n');
  await admin.acl('DELUSER', 'gateway');
  await untilBothAre('gateway-2');
  await gateway.stop();
  assert.doesNotMatch(JSON.stringify(gateway.lines), /"first|second|third"/);
});

testRefusedLogin('a single Redis', async (t) => {
  const redis = await startRedis(t);
  return { settings: { REDIS_URL: redis.url }, clients: [await redisAdmin(t, redis)] };
});
