import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { mskTokens } from '../../../../../src/ingest/kafka/credentials/msk-token.ts';
import { freePort } from '../../../../helpers/free-port.ts';
import { serveHttp } from '../../../../helpers/local-server.ts';
import { temporaryFolder } from '../../../../helpers/temporary-folder.ts';

const SRC = path.join(import.meta.dirname, '../../../../../src');
const REGION = 'eu-central-1';
const MINUTES_15 = 900_000;

const ENVIRONMENT = process.env;

const tokens = mskTokens(REGION, 60_000);

/** What AWS's SDK finds until the end of the test, and nothing of this machine. */
function setEnvironment(t: TestContext, variables: Readonly<Record<string, string>>): void {
  const others = Object.entries(ENVIRONMENT).filter(([name]) => !name.startsWith('AWS_'));
  const own = { HOME: '/nowhere', AWS_EC2_METADATA_DISABLED: 'true', ...variables };
  process.env = { ...Object.fromEntries(others), ...own };
  t.after(() => (process.env = ENVIRONMENT));
}

/** Sets the environment as Kubernetes and the service account's annotation do on EKS. */
async function asServiceAccount(t: TestContext, tokenService: string): Promise<void> {
  const file = path.join(await temporaryFolder(t), 'token');
  await writeFile(file, 'of the service account');
  setEnvironment(t, {
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/sluice',
    AWS_WEB_IDENTITY_TOKEN_FILE: file,
    AWS_ENDPOINT_URL_STS: tokenService,
  });
}

/** AWS's security token service. @returns its address, and the requests to it */
async function startTokenService(t: TestContext, status: number, body: string) {
  const requests: Record<string, string>[] = [];
  const url = await serveHttp(t, async (request, response) => {
    requests.push(Object.fromEntries(new URLSearchParams(await text(request))));
    response.writeHead(status, { 'content-type': 'text/xml' }).end(body);
  });
  return { url, requests };
}

const signedUrl = (token: string): URL => new URL(Buffer.from(token, 'base64url').toString());

test('a token is a signed request to connect to clusters of the region, valid for a quarter of an hour', async (t) => {
  setEnvironment(t, { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'open sesame' });
  const before = Date.now();
  const { value, expiresAt } = await tokens();
  const { hostname, searchParams } = signedUrl(value);
  assert.equal(hostname, 'kafka.eu-central-1.amazonaws.com');
  assert.equal(searchParams.get('Action'), 'kafka-cluster:Connect');
  assert.match(
    String(searchParams.get('X-Amz-Credential')),
    /^AKIDEXAMPLE\/\d{8}\/eu-central-1\/kafka-cluster\//,
  );
  assert.match(String(searchParams.get('X-Amz-Signature')), /^[0-9a-f]{64}$/);
  // Its clock has seconds.
  assert.ok(expiresAt > before + MINUTES_15 - 1_000 && expiresAt <= Date.now() + MINUTES_15);
});

test("a service account's role is taken on with its token", async (t) => {
  const expiration = new Date(Date.now() + 3_600_000).toISOString();
  const { url, requests } = await startTokenService(
    t,
    200,
    `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
      <AssumeRoleWithWebIdentityResult><Credentials>
        <AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>open sesame</SecretAccessKey>
        <SessionToken>of the session</SessionToken><Expiration>${expiration}</Expiration>
      </Credentials></AssumeRoleWithWebIdentityResult>
    </AssumeRoleWithWebIdentityResponse>`,
  );
  await asServiceAccount(t, url);
  const { searchParams } = signedUrl((await tokens()).value);
  assert.match(String(searchParams.get('X-Amz-Credential')), /^ASIAROLE\//);
  assert.equal(searchParams.get('X-Amz-Security-Token'), 'of the session');
  assert.equal(requests[0]?.['RoleArn'], 'arn:aws:iam::123456789012:role/sluice');
  assert.equal(requests[0]['WebIdentityToken'], 'of the service account');
});

test('an error says why AWS gives no credentials, and whether it may do so the next time', async (t) => {
  const denied = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>
    <Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message>
  </Error></ErrorResponse>`;
  const refusing = await startTokenService(t, 403, denied);
  const closed = `http://127.0.0.1:${await freePort()}`;
  for (const [arrange, reason, retriable] of [
    [() => setEnvironment(t, {}), 'Could not load credentials from any providers', false],
    [() => asServiceAccount(t, refusing.url), 'Not authorized to perform sts:Assume', false],
    [() => asServiceAccount(t, closed), 'ECONNREFUSED', true],
  ] as const) {
    await arrange();
    await assert.rejects(tokens(), (error: Error & { retriable?: boolean }) => {
      const { message } = error;
      assert.match(message, /^KAFKA_SASL_MECHANISM: expected credentials of AWS for aws-msk-iam, got: ./);
      assert.ok(message.includes(reason), message);
      assert.equal(error.retriable, retriable, reason);
      return true;
    });
  }
});

test('where the package is missing, the error says what to install', async (t) => {
  const folder = await temporaryFolder(t);
  const credentials = 'ingest/kafka/credentials';
  const needed = ['errors', 'support/shortened', 'support/with-timeout', `${credentials}/token-unavailable`];
  for (const file of [...needed, `${credentials}/msk-token`]) {
    await cp(path.join(SRC, `${file}.js`), path.join(folder, `${file}.js`));
  }
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    path.join(folder, 'program.js'),
    `import { mskTokens } from './${credentials}/msk-token.js';
    try { mskTokens('${REGION}'); } catch ({ code, message }) { console.log(code, message); }`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(folder, 'program.js')]);
  assert.match(
    stdout,
    /^MISSING_PACKAGE expected aws-msk-iam-sasl-signer-js to be installed beside sluice \(npm install aws-msk-iam-sasl-signer-js\), as KAFKA_SASL_MECHANISM is aws-msk-iam; got: Cannot find module [^\n]*\n$/,
  );
});
