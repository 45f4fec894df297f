import { createRequire } from 'node:module';
import { messageOf, SluiceError } from '../../../errors.ts';
import { shortened } from '../../../support/shortened.ts';
import { withTimeout } from '../../../support/with-timeout.ts';
import type { IssuedToken } from './renewed-token.ts';
import { TokenUnavailable } from './token-unavailable.ts';

/** Not among the gateway's dependencies: it brings AWS's SDK, some 20 MB. */
const PACKAGE = 'aws-msk-iam-sasl-signer-js';

/** The part of the package that is used. */
interface Signer {
  /** Signs with the credentials that AWS's SDK finds: variables, a service account's role, a pod identity, the machine's. */
  generateAuthToken(options: { readonly region: string }): Promise<{
    readonly token: string;
    /** ms since 1970 */
    readonly expiryTime: number;
  }>;
}

/** Shorter than the time that kafkajs allows for an authentication. */
const TIMEOUT_MS = 8_000;

const SHOWN_CHARACTERS = 300;

/**
 * @param timeoutMs how long a signature may take, with the requests for credentials
 * @returns a function that signs a token for OAUTHBEARER with brokers of Amazon MSK, and rejects with TokenUnavailable
 * @throws SluiceError MISSING_PACKAGE
 */
export function mskTokens(region: string, timeoutMs = TIMEOUT_MS): () => Promise<IssuedToken> {
  const signer = load();
  return async () => {
    try {
      const signed = signer.generateAuthToken({ region });
      const { token, expiryTime } = await withTimeout(signed, timeoutMs, () => {
        throw new Error(`nothing within ${timeoutMs} ms`);
      });
      return { value: token, expiresAt: expiryTime };
    } catch (cause) {
      const expected = 'KAFKA_SASL_MECHANISM: expected credentials of AWS for aws-msk-iam';
      const came = shortened(messageOf(cause), SHOWN_CHARACTERS);
      throw new TokenUnavailable(`${expected}, got: ${came}`, {
        retriable: !isOwnFault(cause),
        cause,
      });
    }
  };
}

/** Whether another attempt would fail alike, as AWS refused, or could not be asked: no credentials, no such role. */
function isOwnFault(thrown: unknown): boolean {
  const { name, code, $fault } = thrown as Error & { readonly code?: string; readonly $fault?: string };
  return name === 'CredentialsProviderError' || code === 'ENOENT' || $fault === 'client';
}

function load(): Signer {
  try {
    return createRequire(import.meta.url)(PACKAGE) as Signer;
  } catch (cause) {
    const [reason = ''] = messageOf(cause).split('\n');
    throw new SluiceError(
      'MISSING_PACKAGE',
      `expected ${PACKAGE} to be installed beside sluice (npm install ${PACKAGE}), as KAFKA_SASL_MECHANISM is aws-msk-iam; got: ${reason}`,
      { cause },
    );
  }
}
