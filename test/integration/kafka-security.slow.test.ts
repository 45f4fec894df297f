import assert from 'node:assert/strict';
import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { describe, type TestContext } from 'node:test';
import { Authority } from '../helpers/authority.ts';
import { runCli, type GatewayProcess } from '../helpers/gateway.ts';
import { GuardedKafka, USERS } from '../helpers/guarded-kafka.ts';
import { eventually } from '../helpers/eventually.ts';
import { fileScope, type Scope } from '../helpers/scope.ts';
import { testNeeding } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { TokenIssuer } from '../helpers/token-issuer.ts';

const it = testNeeding('kafka-jars');

/** Each test waits most of its time. */
const CONCURRENCY = { concurrency: 4 };

/**
 * Both clients, and how long tokens live that have to be renewed in the middle of a connection: kafkajs authenticates
 * again 10 s before its broker would end the connection, and by then half of the life must be over.
 */
const CLIENTS = [
  { name: 'kafkajs', lifeSeconds: 24 },
  { name: 'platformatic', lifeSeconds: 10 },
] as const;

const scope: Scope = fileScope();
let starting: Promise<GuardedKafka> | undefined;
const guardedKafka = () => (starting ??= GuardedKafka.start(scope));

const consumerEnded = ({ msg }: { msg: string }) =>
  /^(the Kafka consumer ended|Kafka has not been reached yet)/.test(msg);

/** Ends the gateway, and looks for secrets in all that it has said. */
async function assertDiscreet(gateway: GatewayProcess): Promise<void> {
  await gateway.stop();
  const said = [gateway.stderr, ...gateway.lines.map((line) => JSON.stringify(line))].join('\n');
  assert.doesNotMatch(said, /sesame|open rye|barley|eyJ/);
}

/** What went wrong but for ends of the consumer; to be asked once the gateway has ended. */
const faultsOf = ({ lines }: GatewayProcess) =>
  lines.filter((line) => line.level >= 50 && !consumerEnded(line));

async function filesIn(t: TestContext, ...names: string[]): Promise<string[]> {
  const folder = await temporaryFolder(t);
  return names.map((name) => path.join(folder, name));
}

const SECRET = 'open sesame';

const oauth = ({ tokenUrl }: TokenIssuer) => ({
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_OAUTH_TOKEN_URL: tokenUrl,
  KAFKA_OAUTH_CLIENT_ID: 'gateway',
  KAFKA_OAUTH_CLIENT_SECRET: SECRET,
});

/** Access by tokens, and an endpoint that issues them. */
async function withIssuer(t: TestContext, client: Readonly<Record<string, string>>) {
  const guarded = await guardedKafka();
  const kafka = await guarded.access(t, 'token', client);
  return { guarded, kafka, issuer: await TokenIssuer.start(t, guarded.issuer) };
}

const SIGNER = 'aws-msk-iam-sasl-signer-js';

const MSK = { KAFKA_SASL_MECHANISM: 'aws-msk-iam', KAFKA_AWS_REGION: 'eu-central-1' };

/** Node's options for a gateway that gets this in place of the package which signs tokens for Amazon MSK. */
async function withSigner(t: TestContext, code: string): Promise<{ NODE_OPTIONS: string }> {
  const [file = ''] = await filesIn(t, 'signer.cjs');
  const program = `
    const Module = require('node:module');
    const load = Module._load;
    Module._load = (name, ...rest) => (name === '${SIGNER}' ? signer() : load(name, ...rest));
    function signer() { ${code} }
  `;
  await writeFile(file, program);
  return { NODE_OPTIONS: `--require ${file}` };
}

describe('a gateway and its connections to Kafka', CONCURRENCY, () => {
  for (const { name, lifeSeconds } of CLIENTS) {
    const client = { KAFKA_DRIVER: name };

    it(`${name}: TLS with a password, and a wrong password keeps the pod from being ready`, async (t) => {
      const kafka = await (await guardedKafka()).access(t, 'password', client);
      const plain = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'sluice' };
      const gateway = await kafka.gateway({ ...plain, KAFKA_SASL_PASSWORD: USERS.plain.sluice });
      const locked = await kafka.gateway({ ...plain, KAFKA_SASL_PASSWORD: 'open rye' });
      const deliver = await kafka.delivery(gateway);
      await deliver(1);
      await locked.untilNotReady(/consumer crashed/);
      await locked.untilLog(/authenticat/i);
      for (const pod of [gateway, locked]) await assertDiscreet(pod);
    });

    it(`${name}: OAUTHBEARER with tokens of an endpoint, and new ones for connections that outlive them`, async (t) => {
      const { kafka, issuer } = await withIssuer(t, client);
      issuer.claims = { lifeSeconds };
      const began = performance.now();
      const gateway = await kafka.gateway({ ...oauth(issuer), KAFKA_OAUTH_SCOPE: 'kafka' });
      const deliver = await kafka.delivery(gateway);
      await deliver(1, 'no JSON');
      await kafka.untilLetters(1);
      const { authorization, form } = issuer.requests[0] ?? {};
      assert.deepEqual(form, { grant_type: 'client_credentials', scope: 'kafka' });
      assert.equal(authorization, `Basic ${Buffer.from('gateway:open%20sesame').toString('base64')}`);
      // One for all connections of the start, and one more each half of a life.
      const asked = issuer.requests.length;
      const halves = Math.floor((performance.now() - began) / (lifeSeconds * 500));
      assert.ok(asked <= 1 + halves, `${asked} in ${halves} halves of a life`);
      await eventually(() => assert.ok(issuer.requests.length >= 3, `${issuer.requests.length} requests`));
      await deliver(2, 'no JSON either');
      await kafka.untilLetters(2);
      await assertDiscreet(gateway);
      assert.deepEqual(
        gateway.lines.filter(({ level }) => level >= 50),
        [],
      );
    });

    it(`${name}: OAUTHBEARER with a token from a file, and the one that takes its place without the gateway being started anew`, async (t) => {
      const guarded = await guardedKafka();
      const kafka = await guarded.access(t, 'token', client);
      const { issuer } = guarded;
      const [file = ''] = await filesIn(t, 'token');
      await writeFile(file, `${await issuer.sign({ audience: 'another service' })}\n`);
      const gateway = await kafka.gateway({
        KAFKA_SASL_MECHANISM: 'oauthbearer',
        KAFKA_OAUTH_TOKEN_FILE: file,
      });
      await gateway.untilNotReady(
        /consumer crashed: SASL OAUTHBEARER authentication failed: .*invalid_token/,
      );
      await writeFile(file, await issuer.sign({ lifeSeconds: -60 }));
      await gateway.untilNotReady(/consumer crashed: KAFKA_OAUTH_TOKEN_FILE: .*whose token was valid until/);
      await writeFile(file, await issuer.sign());
      const deliver = await kafka.delivery(gateway);
      await deliver(1);
      await assertDiscreet(gateway);
      assert.deepEqual(faultsOf(gateway), []);
    });

    it(`${name}: a token endpoint that takes requests and answers none is named`, async (t) => {
      const { kafka, issuer } = await withIssuer(t, client);
      issuer.isSilent = true;
      const gateway = await kafka.gateway(oauth(issuer));
      const { error } = await gateway.untilLine(consumerEnded);
      assert.match(
        String(error),
        /^KAFKA_OAUTH_TOKEN_URL: expected status 200 and a bearer token, got .*timeout/,
      );
      issuer.isSilent = false;
      await gateway.untilReady();
      await assertDiscreet(gateway);
    });

    it(`${name}: OAUTHBEARER with tokens that the package for Amazon MSK signs, and new ones before they expire`, async (t) => {
      const { kafka, issuer } = await withIssuer(t, client);
      issuer.claims = { lifeSeconds };
      // The broker takes the issuer's tokens only; what signs says for which region it was asked.
      const signer = await withSigner(
        t,
        `return {
            async generateAuthToken({ region }) {
              const body = new URLSearchParams({ region });
              const response = await fetch('${issuer.tokenUrl}', { method: 'POST', body });
              if (!response.ok) throw new Error('no credentials');
              const { access_token: token, expires_in: seconds } = await response.json();
              return { token, expiryTime: Date.now() + seconds * 1_000 };
            },
          };`,
      );
      issuer.failure = { status: 403, body: '' };
      const gateway = await kafka.gateway({ ...MSK, ...signer });
      const { error } = await gateway.untilLine(consumerEnded);
      assert.equal(
        error,
        'KAFKA_SASL_MECHANISM: expected credentials of AWS for aws-msk-iam, got: no credentials',
      );
      issuer.failure = undefined;
      await gateway.untilReady();
      const atFirst = issuer.requests.length;
      const deliver = await kafka.delivery(gateway);
      await deliver(1);
      await eventually(() => assert.ok(issuer.requests.length > atFirst, 'expected a request that renews'));
      await deliver(2);
      assert.deepEqual(issuer.requests.at(-1)?.form, { region: 'eu-central-1' });
      await assertDiscreet(gateway);
      assert.deepEqual(faultsOf(gateway), []);
    });

    it(`${name}: without a certificate that the broker trusts, or of a broker that it does not, it is not ready and says so`, async (t) => {
      const kafka = await (await guardedKafka()).access(t, 'certificate', client);
      const stranger = await (await Authority.create(t)).issue('gateway');
      const refused = async (settings: Readonly<Record<string, string>>, why: RegExp) => {
        const gateway = await kafka.gateway(settings);
        await gateway.untilNotReady(/consumer crashed: /);
        const { error } = await gateway.untilLine(consumerEnded);
        assert.match(String(error), why);
        await gateway.stop();
        // One line for each end of a consumer.
        assert.deepEqual(faultsOf(gateway), []);
      };
      const trusts = /the broker expected a certificate that it trusts, got/;
      await Promise.all([
        refused({}, new RegExp(`${trusts.source} none \\(KAFKA_CERT\\)`)),
        refused(
          { KAFKA_CERT: stranger.certificateFile, KAFKA_KEY: stranger.keyFile },
          new RegExp(`${trusts.source} that of KAFKA_CERT, for CN=gateway, valid until `),
        ),
        refused({ KAFKA_CA: stranger.certificateFile }, /by an authority in KAFKA_CA, got: unable to verify/),
      ]);
    });
  }
});

/** These cut all connections to a listener, which the tests above would take for faults. */
describe('a gateway whose connections to Kafka are cut', CONCURRENCY, () => {
  for (const { name } of CLIENTS) {
    const client = { KAFKA_DRIVER: name };

    it(`${name}: user and password from files, and new ones without the gateway being started anew`, async (t) => {
      const guarded = await guardedKafka();
      const kafka = await guarded.access(t, 'password', client);
      const [user = '', file = ''] = await filesIn(t, 'user', 'password');
      await writeFile(user, 'sluice\n');
      await writeFile(file, `${USERS.scram.sluice}\n`);
      const gateway = await kafka.gateway({
        KAFKA_SASL_MECHANISM: 'scram-sha-512',
        KAFKA_SASL_USERNAME_FILE: user,
        KAFKA_SASL_PASSWORD_FILE: file,
      });
      const deliver = await kafka.delivery(gateway);
      await deliver(1, 'no JSON');
      await gateway.untilMetric('sluice_dead_letters_total', 1);

      // As Vault does: another user with each password.
      await writeFile(user, 'sluice-2');
      await writeFile(file, USERS.scram['sluice-2']);
      guarded.cut('password');
      await deliver(2, 'no JSON either');
      await kafka.untilLetters(2);
      // Else the gateway would send the letter again, with the old password.
      await kafka.untilConsumed(gateway);

      // The old one, which the file had before.
      await writeFile(file, USERS.scram.sluice);
      guarded.cut('password');
      await gateway.untilNotReady(/consumer crashed: .*authentication failed/);
      await writeFile(file, USERS.scram['sluice-2']);
      await gateway.untilReady();
      await deliver(3);
      await assertDiscreet(gateway);
      // One line for each attempt, beside what says that a member joins again.
      const told = gateway.lines
        .filter((line) => line.level > 30 && /authentication/i.test(JSON.stringify(line)))
        .map(({ msg }) => msg);
      assert.deepEqual([...new Set(told)], ['the Kafka consumer ended; starting another']);
    });

    it(`${name}: with mutual TLS brokers are shown a certificate, also for dead letters, and a new one without the gateway being started anew`, async (t) => {
      const guarded = await guardedKafka();
      const kafka = await guarded.access(t, 'certificate', client);
      const [authority, next] = [await Authority.create(t), await Authority.create(t)];
      const [cert = '', key = '', passphrase = ''] = await filesIn(t, 'cert', 'key', 'passphrase');
      const mount = async (from: Authority, secret: string) => {
        const issued = await from.issue('gateway', secret);
        await copyFile(issued.certificateFile, cert);
        await copyFile(issued.keyFile, key);
        await writeFile(passphrase, `${secret}\n`);
      };
      await guarded.trust(authority);
      await mount(authority, SECRET);
      const settings = { KAFKA_CERT: cert, KAFKA_KEY: key, KAFKA_KEY_PASSPHRASE_FILE: passphrase };
      const gateway = await kafka.gateway(settings);
      const deliver = await kafka.delivery(gateway);
      await deliver(1, 'no JSON');
      await kafka.untilLetters(1);
      const list = ['dead-letters', 'list', '--json'];
      const listed = await runCli(t, list, { ...kafka.settings, ...settings });
      assert.equal(listed.code, 0, listed.stderr);
      assert.match(listed.stdout, /not_json/);

      await mount(next, `${SECRET} again`);
      await guarded.trust(next, authority);
      guarded.cut('certificate');
      assert.deepEqual(await deliver(2), [1, 2]);
      await assertDiscreet(gateway);
    });

    it(`${name}: a token endpoint that refuses the client is told by readiness and one line, one that is away makes no pod leave`, async (t) => {
      const { guarded, kafka, issuer } = await withIssuer(t, client);
      issuer.failure = {
        status: 401,
        body: '{"error":"invalid_client","error_description":"unknown client or secret"}',
      };
      const gateway = await kafka.gateway({ ...oauth(issuer), KAFKA_OAUTH_CLIENT_AUTH: 'post' });
      await gateway.untilNotReady(/consumer crashed: KAFKA_OAUTH_TOKEN_URL/);
      const { error } = await gateway.untilLine(consumerEnded);
      assert.equal(
        error,
        'KAFKA_OAUTH_TOKEN_URL: expected status 200 and a bearer token, got status 401, invalid_client, unknown client or secret',
      );
      const { authorization, form } = issuer.requests[0] ?? {};
      assert.equal(authorization, undefined);
      assert.deepEqual(form, {
        grant_type: 'client_credentials',
        client_id: 'gateway',
        client_secret: SECRET,
      });
      issuer.failure = { status: 503, body: '' };
      const away = 'KAFKA_OAUTH_TOKEN_URL: expected status 200 and a bearer token, got status 503';
      await gateway.untilLine((line) => line['error'] === away);
      await gateway.untilNotReady(/Kafka has not been reached yet: KAFKA_OAUTH_TOKEN_URL/);
      issuer.failure = undefined;
      await gateway.untilReady();
      const joined = await gateway.untilLine(({ msg }) => msg === 'joined the consumer group');
      issuer.failure = { status: 503, body: '' };
      guarded.cut('token');
      // The token from before is still valid.
      const deliver = await kafka.delivery(gateway);
      await deliver(1);
      await assertDiscreet(gateway);
      const since = gateway.lines.slice(gateway.lines.indexOf(joined)).map((line) => JSON.stringify(line));
      assert.doesNotMatch(since.join('\n'), /KAFKA_OAUTH/);
    });
  }
});

test('a gateway for Amazon MSK does not start without the package that signs, and says how to install it', async (t) => {
  const missing = await withSigner(t, `throw new Error("Cannot find module '${SIGNER}'\\nRequire stack:");`);
  const settings = { KAFKA_BROKERS: 'localhost:1', KAFKA_TLS: 'true', ...MSK, ...missing };
  const { code, stdout, stderr } = await runCli(t, ['serve'], settings);
  assert.equal(code, 1);
  assert.match(
    stdout + stderr,
    /expected aws-msk-iam-sasl-signer-js .*npm install aws-msk-iam-sasl-signer-js/,
  );
});
