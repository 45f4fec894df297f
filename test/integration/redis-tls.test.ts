import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { selfSigned } from '../helpers/certificate.ts';
import { spawnFor } from '../helpers/child-process.ts';
import { freePort } from '../helpers/free-port.ts';
import { runCli, startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
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
