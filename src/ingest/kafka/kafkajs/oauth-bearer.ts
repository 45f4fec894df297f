import kafkajs, { type AuthenticationProviderArgs, type Mechanism } from '#kafkajs';
import { messageOf } from '../../../errors.ts';
import type { TokenCredentials } from '../credentials/credentials.ts';

/** Between the parts of a message (RFC 7628, 3.1). */
const SEPARATOR = '\x01';

/** An answer of the broker, as kafkajs hands it over, begins with its length in so many bytes. */
const LENGTH_BYTES = 4;

type Authenticate = AuthenticationProviderArgs['saslAuthenticate'];

/**
 * SASL/OAUTHBEARER in place of kafkajs's own, which mistakes a token that the broker has refused for an accepted one: the
 * broker refuses it in an answer without an error code, which kafkajs does not read.
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
 * kafkajs would try again with a second handshake on the same connection. The broker would refuse it, which would hide why
 * there is no token. The gateway makes the next attempt, with a new connection.
 */
function unavailable(cause: unknown): never {
  throw Object.assign(new kafkajs.KafkaJSNonRetriableError(messageOf(cause)), { cause });
}

async function authenticate(saslAuthenticate: Authenticate, message: string): Promise<void> {
  const refusal = await exchange(saslAuthenticate, message).catch((thrown: unknown) => {
    // A connection that is lost meanwhile says nothing about the token.
    if (thrown instanceof kafkajs.KafkaJSError && thrown.retriable) throw thrown;
    return messageOf(thrown);
  });
  if (refusal === '') return;
  // The broker waits for this. Then it ends the exchange with an error, and the connection.
  await exchange(saslAuthenticate, SEPARATOR).catch(() => undefined);
  throw new kafkajs.KafkaJSNonRetriableError(`SASL OAUTHBEARER authentication failed: ${refusal}`);
}

/** @returns the broker's answer: nothing, or as JSON why it refuses the token */
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
