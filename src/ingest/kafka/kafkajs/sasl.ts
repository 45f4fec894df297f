import type { KafkaConfig, SASLOptions } from '#kafkajs';
import type { KafkaCredentials, PasswordCredentials } from '../credentials/credentials.ts';
import { oauthBearer } from './oauth-bearer.ts';

/** A new one for each client, which keeps state in it. */
export function saslOptions(sasl: NonNullable<KafkaCredentials['sasl']>): NonNullable<KafkaConfig['sasl']> {
  return sasl.mechanism === 'oauthbearer' ? oauthBearer(sasl) : withPassword(sasl);
}

/** kafkajs reads `password` in the course of each authentication, and so the file that it may come from. */
function withPassword({ mechanism, username, password }: PasswordCredentials): SASLOptions {
  const options = {
    username,
    get password() {
      return password();
    },
  };
  return Object.assign(options, { mechanism });
}
