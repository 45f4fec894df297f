import assert from 'node:assert/strict';
import { copyFile } from 'node:fs/promises';
import test from 'node:test';
import { selfSigned } from '../helpers/certificate.ts';
import { GATEWAY_DEFAULTS, runCli } from '../helpers/gateway.ts';
import { range } from '../helpers/numbers.ts';
import { needs, redisUrl } from '../helpers/services.ts';
import { TRANSPORT_CLIENTS } from '../helpers/transport-client.ts';
import { startWithTls } from './tls-gateway.ts';

test('workers share the port with TLS, and each answers', needs('redis'), async (t) => {
  const gateway = await startWithTls(t, { WORKERS: '2', REDIS_URL: redisUrl() });
  await gateway.untilReady();
  const { webSocket, eventStream } = TRANSPORT_CLIENTS;
  for (const client of range(0, 6).flatMap(() => [webSocket, eventStream])) {
    const asking = client.ask(t, gateway, { query: '{ version }' });
    assert.deepEqual(await asking.untilPayloads(1), [{ data: { version: '' } }]);
  }
  assert.ok((await gateway.metric('sluice_tls_certificate_expires_seconds')) > Date.now() / 1_000);
});

test('a gateway with a certificate that it can not use does not start, and says why', async (t) => {
  const [one, other] = [await selfSigned(t), await selfSigned(t)];
  await copyFile(other.keyFile, one.keyFile);
  for (const [settings, message] of [
    [{ TLS_CERT: one.certificateFile }, /TLS_KEY: expected a file, as TLS_CERT is set, got nothing/],
    [{ TLS_KEY: one.keyFile }, /TLS_CERT: expected a file, as TLS_KEY is set, got nothing/],
    [
      { TLS_CERT: one.certificateFile, TLS_KEY: one.keyFile },
      /TLS_KEY: expected a file with the key of the certificate/,
    ],
  ] as const) {
    const { code, stderr, stdout } = await runCli(t, ['serve'], { ...GATEWAY_DEFAULTS, ...settings });
    assert.equal(code, 1);
    assert.match(stderr + stdout, message);
    assert.doesNotMatch(stderr + stdout, /PRIVATE KEY/);
  }
});
