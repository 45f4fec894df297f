import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
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
    const gateway = await kafka.gateway({ ...clientOf(issuer), KAFKA_OAUTH_SCOPE: 'kafka' });
    await gateway.untilReady();
    const received = await kafka.subscriber(gateway);
    await kafka.send('{"id":1,"n":1}', 'no JSON');
    await received.until(1);
    await kafka.untilLetters(1);
    const { authorization, form } = issuer.requests[0] ?? {};
    assert.deepEqual(form, { grant_type: 'client_credentials', scope: 'kafka' });
    assert.equal(authorization, `Basic ${Buffer.from('gateway:open%20sesame').toString('base64')}`);
    // One for all connections of the start.
    assert.equal(issuer.requests.length, 1);
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
