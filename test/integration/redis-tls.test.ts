import assert from 'node:assert/strict';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { Redis } from 'ioredis';
import { Authority } from '../helpers/authority.ts';
import { selfSigned } from '../helpers/certificate.ts';
import { spawnFor } from '../helpers/child-process.ts';
import { eventually } from '../helpers/eventually.ts';
import { freePort } from '../helpers/free-port.ts';
import { runCli, startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { NAME, startSentinel } from '../helpers/redis-sentinel.ts';
import { needs } from '../helpers/services.ts';

test(
  'the gateway reaches Redis over TLS, with a private certificate authority and a password',
  needs('redis-server'),
  async (t) => {
    const { keyFile, certificateFile } = await selfSigned(t);
    const port = await freePort();
    const files = [
      '--tls-cert-file',
      certificateFile,
      '--tls-key-file',
      keyFile,
      '--tls-ca-cert-file',
      certificateFile,
    ];
    const server = ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', '--save', ''];
    spawnFor(t, 'redis-server', [...server, ...files, '--requirepass', 'open sesame']);

    const graph = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
    const settings = { GRAPH: graph, REDIS_URL: `rediss://:open%20sesame@localhost:${port}` };
    const trusting = await startGateway(t, { ...settings, REDIS_CA: certificateFile });
    await trusting.untilReady();
    const doubting = await startGateway(t, settings);
    await doubting.untilNotReady(/Redis/);
    assert.ok(
      ![...trusting.lines, ...doubting.lines].some((line) => JSON.stringify(line).includes('sesame')),
    );
  },
);

test(
  'the gateway asks Sentinel for Redis over TLS, and logs in to both',
  needs('redis-server'),
  async (t) => {
    const { keyFile, certificateFile } = await selfSigned(t);
    const port = await freePort();
    const files = {
      'tls-cert-file': certificateFile,
      'tls-key-file': keyFile,
      'tls-ca-cert-file': certificateFile,
      'tls-auth-clients': 'no',
    };
    const options = Object.entries(files).flatMap(([name, value]) => [`--${name}`, value]);
    const user = ['--user', 'gateway', 'on', '>open sesame', '~*', '&*', '+@all'];
    const server = ['--port', '0', '--tls-port', String(port), '--save', ''];
    spawnFor(t, 'redis-server', [...server, ...options, ...user]);
    const sentinel = await startSentinel(t, port, 1, (own) => [
      'port 0',
      `tls-port ${own}`,
      'tls-replication yes',
      ...Object.entries(files).map(([name, value]) => `${name} ${value}`),
      'requirepass "swordfish"',
    ]);
    const graph = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
    const settings = {
      GRAPH: graph,
      REDIS_SENTINELS: `localhost:${sentinel}`,
      REDIS_SENTINEL_MASTER: NAME,
      REDIS_USERNAME: 'gateway',
      REDIS_PASSWORD: 'open sesame',
      REDIS_SENTINEL_PASSWORD: 'swordfish',
      REDIS_TLS: 'true',
    };
    const trusting = await startGateway(t, { ...settings, REDIS_CA: certificateFile });
    await trusting.untilReady();
    const doubting = await startGateway(t, settings);
    await doubting.untilLog(
      /no Sentinel tells the address of mymaster: localhost:\d+: self-signed certificate/,
    );
    await doubting.untilNotReady(/Redis/);
    const stranger = await startGateway(t, {
      ...settings,
      REDIS_CA: certificateFile,
      REDIS_SENTINEL_PASSWORD: 'wrong',
    });
    await stranger.untilLog(/no Sentinel tells the address of mymaster: localhost:\d+: WRONGPASS/);
    await stranger.untilNotReady(/Redis/);
    const lines = [trusting, doubting, stranger].flatMap((gateway) => gateway.lines);
    assert.doesNotMatch(JSON.stringify(lines), /sesame|swordfish/);
  },
);

test('a Redis that wants certificates of its clients is shown one', needs('redis-server'), async (t) => {
  const { keyFile, certificateFile } = await selfSigned(t);
  const port = await freePort();
  const files = [certificateFile, keyFile, certificateFile];
  const names = ['--tls-cert-file', '--tls-key-file', '--tls-ca-cert-file'];
  const tls = names.flatMap((name, index) => [name, files[index] ?? '']);
  const server = ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'yes', '--save', ''];
  spawnFor(t, 'redis-server', [...server, ...tls]);
  const graph = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const settings = { GRAPH: graph, REDIS_URL: `rediss://localhost:${port}`, REDIS_CA: certificateFile };
  const known = await startGateway(t, { ...settings, REDIS_CERT: certificateFile, REDIS_KEY: keyFile });
  await known.untilReady();
  const stranger = await startGateway(t, settings);
  await stranger.untilNotReady(/Redis/);
});

test(
  'a pod connects again with the certificate of before, while a new one is half written or lacks its key',
  needs('redis-server'),
  async (t) => {
    const authority = await Authority.create(t);
    const [own, former, next] = [
      await authority.issue('redis'),
      await authority.issue('former'),
      await authority.issue('next'),
    ];
    const port = await freePort();
    const tls = ['--tls-cert-file', own.certificateFile, '--tls-key-file', own.keyFile];
    const clients = ['--tls-ca-cert-file', authority.certificateFile, '--tls-auth-clients', 'yes'];
    spawnFor(t, 'redis-server', [
      '--port',
      '0',
      '--tls-port',
      String(port),
      '--save',
      '',
      ...tls,
      ...clients,
    ]);
    const graph = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
    const [cert, key] = [path.join(graph, 'cert.pem'), path.join(graph, 'key.pem')];
    await copyFile(former.certificateFile, cert);
    await copyFile(former.keyFile, key);
    const gateway = await startGateway(t, {
      GRAPH: graph,
      REDIS_URL: `rediss://localhost:${port}`,
      REDIS_CA: authority.certificateFile,
      REDIS_CERT: cert,
      REDIS_KEY: key,
    });
    await gateway.untilReady();
    const [ca, shown, secret] = await Promise.all(
      [authority.certificateFile, own.certificateFile, own.keyFile].map((file) => readFile(file, 'utf8')),
    );
    const admin = new Redis({ host: 'localhost', port, tls: { ca, cert: shown, key: secret } });
    t.after(() => admin.disconnect());
    const connects = () => gateway.lines.filter(({ msg }) => msg === 'connected to Redis').length;
    await eventually(() => assert.equal(connects(), 2));
    const untilBothAgain = async (): Promise<void> => {
      const before = connects();
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal');
      await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await eventually(() => assert.equal(connects(), before + 2));
    };
    const whole = await readFile(next.certificateFile, 'utf8');
    await writeFile(cert, whole.slice(0, whole.length / 2));
    await untilBothAgain();
    await gateway.untilLog(
      /connecting to Redis with what was read before.*REDIS_CERT|REDIS_CERT.*read before/,
    );
    await writeFile(cert, whole);
    await untilBothAgain();
    await gateway.untilLog(/REDIS_KEY: expected a file with the key of REDIS_CERT.*read before/);
    await copyFile(next.keyFile, key);
    await untilBothAgain();
  },
);

test('a key that does not belong to its certificate, or an empty password, stops the start', async (t) => {
  const authority = await Authority.create(t);
  const [one, other] = [await authority.issue('one'), await authority.issue('other')];
  const empty = path.join(one.folder, 'empty');
  await writeFile(empty, '\n');
  const graph = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const settings = { GRAPH: graph, REDIS_URL: 'rediss://localhost:1' };
  const pair = { REDIS_CERT: one.certificateFile, REDIS_KEY: other.keyFile };
  const mixed = await runCli(t, ['serve'], { ...settings, ...pair });
  assert.equal(mixed.code, 1);
  assert.match(
    mixed.stderr,
    /REDIS_KEY: expected a file with the key of REDIS_CERT as PEM, not encrypted, got/,
  );
  const without = await runCli(t, ['serve'], { ...settings, REDIS_PASSWORD_FILE: empty });
  assert.equal(without.code, 1);
  assert.match(
    without.stderr,
    /REDIS_PASSWORD_FILE: expected a file with text in it, got .*, which is empty/,
  );
});

test(
  'a user and a password that are replaced in their files are used from the next connection on',
  needs('redis-server'),
  async (t) => {
    const redis = await startRedis(t);
    const admin = await redisAdmin(t, redis);
    await admin.acl('SETUSER', 'gateway', 'on', '>first', '~*', '&*', '+@all');
    const graph = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
    const [user, file] = [path.join(graph, 'user'), path.join(graph, 'password')];
    await writeFile(user, 'gateway\n');
    await writeFile(file, 'first\n');
    const gateway = await startGateway(t, {
      GRAPH: graph,
      REDIS_URL: redis.url,
      REDIS_USERNAME_FILE: user,
      REDIS_PASSWORD_FILE: file,
    });
    await gateway.untilReady();
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
    assert.doesNotMatch(JSON.stringify(gateway.lines), /"first|second|third"/);
  },
);

test(
  'a password for Sentinel that is replaced in its file is used from the next connection on',
  needs('redis-server'),
  async (t) => {
    const redis = await startRedis(t);
    const sentinel = await startSentinel(t, redis.port, 1, (port) => [
      `port ${port}`,
      'requirepass "second"',
    ]);
    const graph = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
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
    assert.doesNotMatch(JSON.stringify(gateway.lines), /"first|second"/);
  },
);

test('a certificate file that can not be read stops the start', async (t) => {
  const graph = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const settings = {
    GRAPH: graph,
    REDIS_URL: 'rediss://localhost:1',
    REDIS_CA: path.join(graph, 'nothing.pem'),
  };
  const { code, stderr } = await runCli(t, ['serve'], settings);
  assert.equal(code, 1);
  assert.match(stderr, /REDIS_CA: expected a file that can be read, got .*nothing\.pem/);
});
