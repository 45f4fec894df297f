import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { runCli } from '../helpers/gateway.ts';
import { needs } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { TokenIssuer } from '../helpers/token-issuer.ts';
import { GuardedKafka, loggedBy } from './kafka-access-kafka.ts';

const OF_KAFKA = 'org.apache.kafka.common.security.oauthbearer';
const LISTENER = 'listener.name.sasl_ssl.oauthbearer';

/** Takes the tokens of the issuer that are for `kafka`, and asks for a new one before each is over. */
const startKafka = (t: TestContext, { keysUrl }: TokenIssuer): Promise<GuardedKafka> =>
  GuardedKafka.start(
    t,
    'SASL_SSL',
    () =>
      Promise.resolve({
        'sasl.enabled.mechanisms': 'OAUTHBEARER',
        'connections.max.reauth.ms': '3600000',
        'sasl.oauthbearer.expected.audience': 'kafka',
        'sasl.oauthbearer.jwks.endpoint.url': keysUrl,
        [`${LISTENER}.sasl.jaas.config`]: `${OF_KAFKA}.OAuthBearerLoginModule required;`,
        [`${LISTENER}.sasl.server.callback.handler.class`]: `${OF_KAFKA}.OAuthBearerValidatorCallbackHandler`,
      }),
    [`-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${keysUrl}`],
  );

const SECRET = 'open sesame';

const clientOf = ({ tokenUrl }: TokenIssuer) => ({
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_OAUTH_TOKEN_URL: tokenUrl,
  KAFKA_OAUTH_CLIENT_ID: 'gateway',
  KAFKA_OAUTH_CLIENT_SECRET: SECRET,
});

test(
  'a gateway gets tokens for Kafka of an endpoint, and new ones for connections that outlive them',
  needs('kafka-jars'),
  async (t) => {
    const issuer = await TokenIssuer.start(t);
    const kafka = await startKafka(t, issuer);
    // Brokers then end each connection that has not authenticated again.
    issuer.claims = { lifeSeconds: 24 };
    const began = performance.now();
    const gateway = await kafka.gateway({ ...clientOf(issuer), KAFKA_OAUTH_SCOPE: 'kafka' });
    await gateway.untilReady();
    const received = await kafka.subscriber(gateway);
    await kafka.send('{"id":1,"n":1}', 'no JSON');
    await received.until(1);
    await kafka.untilLetters(1);
    const { authorization, form } = issuer.requests[0] ?? {};
    assert.deepEqual(form, { grant_type: 'client_credentials', scope: 'kafka' });
    assert.equal(authorization, `Basic ${Buffer.from('gateway:open%20sesame').toString('base64')}`);
    // One for all connections of the start, and one more each half of a life.
    const halves = Math.floor((performance.now() - began) / 12_000);
    assert.ok(
      issuer.requests.length <= 1 + halves,
      `${issuer.requests.length} in ${halves} halves of a life`,
    );
    await eventually(() => assert.ok(issuer.requests.length >= 3));
    await kafka.send('{"id":1,"n":2}', 'no JSON either');
    await received.until(2);
    await kafka.untilLetters(2);
    const faults = gateway.lines.filter(({ level }) => level >= 50);
    assert.deepEqual(faults, []);
    assert.doesNotMatch(loggedBy(gateway), /sesame|eyJ/);
  },
);

test(
  'a gateway reads its token from a file, and the one that takes its place without being started anew',
  needs('kafka-jars'),
  async (t) => {
    const issuer = await TokenIssuer.start(t);
    const kafka = await startKafka(t, issuer);
    const file = path.join(await temporaryFolder(t), 'token');
    await writeFile(file, `${await issuer.sign({ audience: 'another service' })}\n`);
    const gateway = await kafka.gateway({
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_OAUTH_TOKEN_FILE: file,
    });
    await gateway.untilNotReady(/consumer crashed: SASL OAUTHBEARER authentication failed: .*invalid_token/);
    await writeFile(file, await issuer.sign({ lifeSeconds: -60 }));
    await gateway.untilNotReady(/consumer crashed: KAFKA_OAUTH_TOKEN_FILE: .*whose token was valid until/);
    const faults = gateway.lines.filter(({ level, msg }) => level >= 50 && !msg.startsWith('the Kafka'));
    assert.deepEqual(faults, []);
    await writeFile(file, await issuer.sign());
    await gateway.untilReady();
    const received = await kafka.subscriber(gateway);
    await kafka.send('{"id":1,"n":1}');
    await received.until(1);
    assert.doesNotMatch(loggedBy(gateway), /eyJ/);
  },
);

test(
  'an endpoint that refuses the client is told by readiness and one line, one that is away makes no pod leave',
  needs('kafka-jars'),
  async (t) => {
    const issuer = await TokenIssuer.start(t);
    const kafka = await startKafka(t, issuer);
    issuer.failure = {
      status: 401,
      body: '{"error":"invalid_client","error_description":"unknown client or secret"}',
    };
    const gateway = await kafka.gateway({ ...clientOf(issuer), KAFKA_OAUTH_CLIENT_AUTH: 'post' });
    await gateway.untilNotReady(/consumer crashed: KAFKA_OAUTH_TOKEN_URL/);
    const { error } = await gateway.untilLine(({ msg }) => msg.startsWith('the Kafka consumer ended'));
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
    await gateway.untilNotReady(/consumer crashed/);
    issuer.failure = undefined;
    await gateway.untilReady();
    issuer.failure = { status: 503, body: '' };
    const lines = gateway.lines.length;
    await kafka.kafka.restart();
    // The token from before is still valid.
    const received = await kafka.subscriber(gateway);
    await kafka.send('{"id":1,"n":1}');
    await received.until(1);
    assert.ok(gateway.lines.slice(lines).every(({ msg }) => !msg.includes('KAFKA_OAUTH')));
    assert.doesNotMatch(loggedBy(gateway), /sesame|eyJ/);
  },
);

test('an endpoint that takes requests and answers none is named', needs('kafka-jars'), async (t) => {
  const issuer = await TokenIssuer.start(t);
  const kafka = await startKafka(t, issuer);
  issuer.isSilent = true;
  const gateway = await kafka.gateway(clientOf(issuer));
  const { error } = await gateway.untilLine(({ msg }) => msg.startsWith('the Kafka consumer ended'));
  assert.match(
    String(error),
    /^KAFKA_OAUTH_TOKEN_URL: expected status 200 and a bearer token, got .*timeout/,
  );
  issuer.isSilent = false;
  await gateway.untilReady();
  assert.doesNotMatch(loggedBy(gateway), /sesame|eyJ/);
});

const SIGNER = 'aws-msk-iam-sasl-signer-js';

/** Node's options for a gateway that gets this in place of the package which signs tokens for Amazon MSK. */
async function withSigner(t: TestContext, code: string): Promise<{ NODE_OPTIONS: string }> {
  const file = path.join(await temporaryFolder(t), 'signer.cjs');
  const program = `
    const Module = require('node:module');
    const load = Module._load;
    Module._load = (name, ...rest) => (name === '${SIGNER}' ? signer() : load(name, ...rest));
    function signer() { ${code} }
  `;
  await writeFile(file, program);
  return { NODE_OPTIONS: `--require ${file}` };
}

const MSK = { KAFKA_SASL_MECHANISM: 'aws-msk-iam', KAFKA_AWS_REGION: 'eu-central-1' };

test(
  'tokens that the package for Amazon MSK signs are shown to brokers, and new ones before they expire',
  needs('kafka-jars'),
  async (t) => {
    const issuer = await TokenIssuer.start(t);
    const kafka = await startKafka(t, issuer);
    issuer.claims = { lifeSeconds: 24 };
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
    const { error } = await gateway.untilLine(({ msg }) => msg.startsWith('the Kafka consumer ended'));
    assert.equal(
      error,
      'KAFKA_SASL_MECHANISM: expected credentials of AWS for aws-msk-iam, got: no credentials',
    );
    issuer.failure = undefined;
    await gateway.untilReady();
    const refused = issuer.requests.length;
    const received = await kafka.subscriber(gateway);
    await kafka.send('{"id":1,"n":1}');
    await received.until(1);
    await eventually(() => assert.ok(issuer.requests.length >= refused + 2));
    await kafka.send('{"id":1,"n":2}');
    await received.until(2);
    assert.deepEqual(issuer.requests.at(-1)?.form, { region: 'eu-central-1' });
    const others = gateway.lines.filter(({ level, msg }) => level >= 50 && !msg.startsWith('the Kafka'));
    assert.deepEqual(others, []);
    assert.doesNotMatch(loggedBy(gateway), /eyJ/);
  },
);

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
