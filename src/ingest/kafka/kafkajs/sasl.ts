import type { SASLOptions } from '#kafkajs';
import type { PasswordCredentials } from '../credentials/credentials.ts';

/** kafkajs reads `password` in the course of each authentication, and so the file that it may come from. */
export function saslOptions({ mechanism, username, password }: PasswordCredentials): SASLOptions {
  const secret = {
    username,
    get password() {
      return password();
    },
  };
  return Object.assign(secret, { mechanism });
}
