import kafkajs, { type AuthenticationProviderArgs, type Mechanism } from '#kafkajs';
import { messageOf } from '../../../errors.ts';
import type { TokenCredentials } from '../credentials/credentials.ts';

/** Between the parts of a message (RFC 7628, 3.1). */
const SEPARATOR = '\x01';

/** An answer of the broker, as kafkajs hands it over, begins with its length, of so many bytes. */
const LENGTH_BYTES = 4;

type Authenticate = AuthenticationProviderArgs['saslAuthenticate'];

/**
 * SASL/OAUTHBEARER in place of kafkajs's own, which takes a token that the broker has refused for one that it has accepted:
 * the broker tells of it in an answer without an error code, which kafkajs does not read.
 */
export function oauthBearer({ extensions, token }: TokenCredentials): Mechanism {
  const pairs = Object.entries(extensions).map(([name, value]) => `${name}=${value}${SEPARATOR}`);
  return {
    mechanism: 'oauthbearer',
    authenticationProvider: ({ saslAuthenticate }) => ({
      authenticate: async () => {
        const parts = [
          'n,,',
          `auth=Bearer ${await token().catch(unavailable)}`,
          `${pairs.join('')}${SEPARATOR}`,
        ];
        await authenticate(saslAuthenticate, parts.join(SEPARATOR));
      },
    }),
  };
}

/**
 * kafkajs would try again on the same connection, by a handshake that the broker refuses, as there has been one, and that
 * refusal would hide why there is no token. The next attempt is that of the gateway, with a connection of its own.
 */
function unavailable(cause: unknown): never {
  throw Object.assign(new kafkajs.KafkaJSNonRetriableError(messageOf(cause)), { cause });
}

async function authenticate(saslAuthenticate: Authenticate, message: string): Promise<void> {
  const refusal = await exchange(saslAuthenticate, message).catch((thrown: unknown) => {
    // A connection that is lost meanwhile says nothing of the token.
    if (thrown instanceof kafkajs.KafkaJSError && thrown.retriable) throw thrown;
    return messageOf(thrown);
  });
  if (refusal === '') return;
  // For this the broker waits; it then ends the exchange with an error, and the connection.
  await exchange(saslAuthenticate, SEPARATOR).catch(() => undefined);
  throw new kafkajs.KafkaJSNonRetriableError(`SASL OAUTHBEARER authentication failed: ${refusal}`);
}

/** @returns what the broker answers: nothing, or as JSON why it does not take the token */
async function exchange(saslAuthenticate: Authenticate, message: string): Promise<string> {
  const bytes = Buffer.from(message);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(bytes.length);
  const answer = await saslAuthenticate<string>({
    request: { encode: () => Buffer.concat([length, bytes]) },
    response: { decode: (raw) => raw.subarray(LENGTH_BYTES), parse: String },
  });
  return answer ?? '';
}
