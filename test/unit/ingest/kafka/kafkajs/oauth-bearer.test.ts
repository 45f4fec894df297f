import assert from 'node:assert/strict';
import test from 'node:test';
import kafkajs, { type AuthenticationProviderArgs } from 'kafkajs';
import { TokenUnavailable } from '../../../../../src/ingest/kafka/credentials/token-unavailable.ts';
import { isRetriable } from '../../../../../src/ingest/kafka/kafkajs/driver.ts';
import { oauthBearer } from '../../../../../src/ingest/kafka/kafkajs/oauth-bearer.ts';

type Authenticate = AuthenticationProviderArgs['saslAuthenticate'];

const LENGTH_BYTES = 4;

/** Returns bytes as kafkajs hands them over: behind their length. */
function framed(text: string): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(text.length);
  return Buffer.concat([length, Buffer.from(text)]);
}

/** A broker that answers with these, one after the other. */
async function authenticate(...answers: readonly (string | Error)[]): Promise<string[]> {
  return authenticateWith(() => Promise.resolve('the.to.ken'), answers);
}

async function authenticateWith(
  token: () => Promise<string>,
  answers: readonly (string | Error)[],
): Promise<string[]> {
  const sent: string[] = [];
  const left = [...answers];
  const saslAuthenticate: Authenticate = async ({ request, response }) => {
    const bytes = await request.encode();
    assert.equal(bytes.readInt32BE(), bytes.length - LENGTH_BYTES);
    sent.push(bytes.subarray(LENGTH_BYTES).toString());
    const answer = left.shift() ?? '';
    if (answer instanceof Error) throw answer;
    return response?.parse(await response.decode(framed(answer)));
  };
  const { authenticationProvider } = oauthBearer({
    mechanism: 'oauthbearer',
    extensions: { logicalCluster: 'lkc-1', identityPoolId: 'pool-2' },
    token,
  });
  const args = { saslAuthenticate } as AuthenticationProviderArgs;
  await authenticationProvider(args)
    .authenticate()
    .catch((error: unknown) => Promise.reject(Object.assign(error as Error, { sent })));
  return sent;
}

const MESSAGE = 'n,,\x01auth=Bearer the.to.ken\x01logicalCluster=lkc-1\x01identityPoolId=pool-2\x01\x01';

test('a token is sent with the extensions behind it', async () => {
  assert.deepEqual(await authenticate(''), [MESSAGE]);
});

test('a broker that refuses a token without an error code is heard, and let end the exchange', async () => {
  const ended = new kafkajs.KafkaJSConnectionError('closed');
  await assert.rejects(authenticate('{"status":"invalid_token"}', ended), {
    name: 'KafkaJSNonRetriableError',
    message: 'SASL OAUTHBEARER authentication failed: {"status":"invalid_token"}',
    sent: [MESSAGE, '\x01'],
  });
});

test('a connection that is lost meanwhile says nothing of the token', async () => {
  const lost = new kafkajs.KafkaJSConnectionError('closed');
  await assert.rejects(authenticate(lost), { name: 'KafkaJSConnectionError', sent: [MESSAGE] });
});

test('kafkajs does not try again where there is no token, since the broker has had its handshake', async () => {
  const away = new TokenUnavailable('the endpoint is away', { retriable: true });
  await assert.rejects(
    authenticateWith(() => Promise.reject(away), []),
    (error: Error) => {
      assert.equal(error.name, 'KafkaJSNonRetriableError');
      assert.equal(error.message, 'the endpoint is away');
      // The gateway does, with another connection.
      assert.equal(isRetriable(error), true);
      return true;
    },
  );
});
