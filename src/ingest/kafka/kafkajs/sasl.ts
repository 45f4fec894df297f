import type { KafkaConfig, SASLOptions } from '#kafkajs';
import type { KafkaCredentials, PasswordCredentials } from '../credentials/credentials.ts';
import { oauthBearer } from './oauth-bearer.ts';

/** Returns a new object for each client, which keeps state in it. */
export function saslOptions(sasl: NonNullable<KafkaCredentials['sasl']>): NonNullable<KafkaConfig['sasl']> {
  return sasl.mechanism === 'oauthbearer' ? oauthBearer(sasl) : withPassword(sasl);
}

/** kafkajs reads both during each authentication, and so the files that they may come from. */
function withPassword({ mechanism, username, password }: PasswordCredentials): SASLOptions {
  const options = {
    get username() {
      return username();
    },
    get password() {
      return password();
    },
  };
  return Object.assign(options, { mechanism });
}
