import { secret } from './secret.ts';
import { expiryOf } from './expiry.ts';
import { TokenUnavailable } from './token-unavailable.ts';

const SETTING = 'KAFKA_OAUTH_TOKEN_FILE';

/** @returns a function that returns the token that is in the file at the call */
export function tokenFile(file: string, now: () => number): () => Promise<string> {
  const text = secret(undefined, SETTING, file);
  return async () => {
    const token = text() ?? '';
    if (/[^\x21-\x7e]/.test(token)) {
      const came = `${file}, which holds spaces or other characters that tokens do not have`;
      throw new TokenUnavailable(`${SETTING}: expected a file with a token and no more, got ${came}`, {
        retriable: false,
      });
    }
    const expiresAt = expiryOf(token);
    if (expiresAt !== undefined && expiresAt <= now()) {
      const came = `${file}, whose token was valid until ${new Date(expiresAt).toISOString()}`;
      throw new TokenUnavailable(`${SETTING}: expected a token that is valid, got ${came}`, {
        retriable: false,
      });
    }
    return token;
  };
}
