import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { test, type TestContext } from 'node:test';
import { loadConfig } from '../../../../src/config/config.ts';
import { RegistryAccess } from '../../../../src/ingest/schemas/registry-access.ts';
import { Authority } from '../../../helpers/authority.ts';
import { selfSigned } from '../../../helpers/certificate.ts';
import { serveHttp } from '../../../helpers/local-server.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { TokenIssuer } from '../../../helpers/token-issuer.ts';
import { readableLog } from '../parts.ts';

const NEVER = new AbortController().signal;

function accessOf(t: TestContext, settings: Readonly<Record<string, string>>): RegistryAccess {
  const access = new RegistryAccess(loadConfig(settings), readableLog().log, Date.now);
  t.after(() => access.close());
  return access;
}

const basicOf = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

/** A server that notes what it is sent. */
async function served(t: TestContext) {
  const requests: IncomingMessage['headers'][] = [];
  const url = await serveHttp(t, ({ headers }, response) => {
    requests.push(headers);
    response.end('{}');
  });
  return { url, requests };
}

test('a registry gets the headers of the settings, and nobody’s name without credentials', async (t) => {
  const { url, requests } = await served(t);
  const access = accessOf(t, {
    SCHEMA_REGISTRY_URL: url,
    SCHEMA_REGISTRY_HEADERS: 'target-sr-cluster=lsrc-1',
  });
  await access.get(url, NEVER);
  assert.deepEqual([requests[0]?.['target-sr-cluster'], requests[0]?.authorization], ['lsrc-1', undefined]);
});

test('a password and a token are read from their files at each request', async (t) => {
  const { url, requests } = await served(t);
  const file = path.join(await temporaryFolder(t), 'secret');
  await writeFile(file, 'one\n');
  const basic = accessOf(t, {
    SCHEMA_REGISTRY_URL: url,
    SCHEMA_REGISTRY_USERNAME: 'ann',
    SCHEMA_REGISTRY_PASSWORD_FILE: file,
  });
  const bearer = accessOf(t, { SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_TOKEN_FILE: file });
  await basic.get(url, NEVER);
  await writeFile(file, 'two\n');
  await basic.get(url, NEVER);
  await bearer.get(url, NEVER);
  const sent = requests.map(({ authorization }) => authorization);
  assert.deepEqual(sent, [basicOf('ann:one'), basicOf('ann:two'), 'Bearer two']);
});

test('a token of an issuer serves many requests', async (t) => {
  const { url, requests } = await served(t);
  const issuer = await TokenIssuer.start(t);
  issuer.claims = { lifeSeconds: 300 };
  const access = accessOf(t, {
    SCHEMA_REGISTRY_URL: url,
    SCHEMA_REGISTRY_OAUTH_TOKEN_URL: issuer.tokenUrl,
    SCHEMA_REGISTRY_OAUTH_CLIENT_ID: 'gateway',
    SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET: 'open sesame',
    SCHEMA_REGISTRY_OAUTH_SCOPE: 'schemas',
  });
  await Promise.all([access.get(url, NEVER), access.get(url, NEVER)]);
  await access.get(url, NEVER);
  assert.equal(issuer.requests.length, 1);
  assert.equal(issuer.requests[0]?.form['scope'], 'schemas');
  assert.ok(requests.every(({ authorization = '' }) => /^Bearer \S{20,}$/.test(authorization)));
});

test('an issuer that refuses is named, with what it says', async (t) => {
  const { url, requests } = await served(t);
  const issuer = await TokenIssuer.start(t);
  issuer.failure = { status: 401, body: '{"error":"invalid_client"}' };
  const access = accessOf(t, {
    SCHEMA_REGISTRY_URL: url,
    SCHEMA_REGISTRY_OAUTH_TOKEN_URL: issuer.tokenUrl,
    SCHEMA_REGISTRY_OAUTH_CLIENT_ID: 'gateway',
    SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET: 'open sesame',
  });
  await assert.rejects(access.get(url, NEVER), /SCHEMA_REGISTRY_OAUTH_TOKEN_URL: .* 401, invalid_client/);
  assert.equal(requests.length, 0);
});

test('a redirect is not followed, as credentials would go with it', async (t) => {
  const { url: other, requests } = await served(t);
  const url = await serveHttp(t, (_request, response) => response.writeHead(302, { location: other }).end());
  await assert.rejects(accessOf(t, { SCHEMA_REGISTRY_URL: url }).get(url, NEVER));
  assert.equal(requests.length, 0);
});

test('the registry’s certificate is verified by the authority of the settings, and the gateway shows its own', async (t) => {
  const server = await selfSigned(t);
  const authority = await Authority.create(t);
  const client = await authority.issue('gateway');
  const key = await readFile(server.keyFile);
  const cert = await readFile(server.certificateFile);
  const clients = await readFile(authority.certificateFile);
  const subjects: string[] = [];
  const https = createServer({ key, cert, ca: clients, requestCert: true }, (request, response) => {
    subjects.push(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN));
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(https, 'listening');
  t.after(() => {
    https.closeAllConnections();
    https.close();
  });
  const url = `https://localhost:${(https.address() as AddressInfo).port}`;
  const untrusting = accessOf(t, { SCHEMA_REGISTRY_URL: url });
  await assert.rejects(untrusting.get(url, NEVER));
  const file = path.join(await temporaryFolder(t), 'ca.pem');
  await copyFile(authority.certificateFile, file);
  const access = accessOf(t, {
    SCHEMA_REGISTRY_URL: url,
    SCHEMA_REGISTRY_CA: file,
    SCHEMA_REGISTRY_CERT: client.certificateFile,
    SCHEMA_REGISTRY_KEY: client.keyFile,
  });
  await assert.rejects(access.get(url, NEVER));
  // The authority is replaced while the gateway runs.
  await copyFile(server.certificateFile, file);
  assert.equal((await access.get(url, NEVER)).status, 200);
  assert.deepEqual(subjects, ['gateway']);
});

test('a file that is not what it must be is found at the start', async (t) => {
  const file = path.join(await temporaryFolder(t), 'ca.pem');
  await writeFile(file, 'nothing');
  const settings = loadConfig({ SCHEMA_REGISTRY_URL: 'https://one', SCHEMA_REGISTRY_CA: file });
  assert.throws(
    () => new RegistryAccess(settings, readableLog().log, Date.now),
    /SCHEMA_REGISTRY_CA: expected a file with a certificate/,
  );
  const empty = { SCHEMA_REGISTRY_URL: 'https://one', SCHEMA_REGISTRY_TOKEN_FILE: `${file}.missing` };
  assert.throws(
    () => new RegistryAccess(loadConfig(empty), readableLog().log, Date.now),
    /SCHEMA_REGISTRY_TOKEN_FILE/,
  );
});
