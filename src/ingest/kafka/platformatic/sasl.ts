import { AuthenticationError, saslScramSha, type SASLOptions } from '#@platformatic/kafka';
import type { KafkaCredentials, PasswordCredentials } from '../credentials/credentials.ts';

const SCRAM = { 'scram-sha-256': 'SHA-256', 'scram-sha-512': 'SHA-512' } as const;

/**
 * Asks for secrets during each authentication.
 *
 * @param token of the first authentication, if the mechanism uses tokens
 */
export function saslOptions(
  sasl: NonNullable<KafkaCredentials['sasl']>,
  token: string | undefined,
): SASLOptions {
  if (sasl.mechanism === 'oauthbearer') {
    let first = token;
    return {
      mechanism: 'OAUTHBEARER',
      token: async () => {
        const present = first ?? (await sasl.token());
        first = undefined;
        return present;
      },
      oauthBearerExtensions: { ...sasl.extensions },
      // A broker refuses a token in an answer without an error code.
      authBytesValidator: (bytes, callback) =>
        bytes.length === 0 ? callback(null, bytes) : callback(new AuthenticationError(String(bytes))),
    };
  }
  return sasl.mechanism === 'plain'
    ? { mechanism: 'PLAIN', username: sasl.username, password: sasl.password }
    : scram(sasl, SCRAM[sasl.mechanism]);
}

/** If the package can't read an answer, it throws where nothing catches the error, and the process would end. */
function scram({ username, password }: PasswordCredentials, algorithm: 'SHA-256' | 'SHA-512'): SASLOptions {
  return {
    mechanism: `SCRAM-${algorithm}`,
    username,
    password,
    authenticate: (_mechanism, connection, api, _username, _password, _token, callback) => {
      const ask = (...[over, bytes, done]: Parameters<typeof api>): void =>
        api(over, bytes, (error, response) => {
          try {
            done?.(error, response);
          } catch {
            const message = `expected an answer of SCRAM-${algorithm}, got one that can’t be read`;
            callback(new AuthenticationError(message));
          }
        });
      const { authenticate, defaultCrypto } = saslScramSha;
      authenticate(
        Object.assign(ask, api),
        connection,
        algorithm,
        username,
        password,
        defaultCrypto,
        callback,
      );
    },
  };
}
