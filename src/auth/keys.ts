import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { flattenedVerify, type CryptoKey, type FlattenedJWSInput, type JWSHeaderParameters } from 'jose';
import { messageOf, SluiceError } from '../errors.ts';

/** Where the keys come from that tokens are verified with. */
export interface Keys {
  /**
   * @throws an error of jose if no key is the token's
   * @throws KeysUnavailable if it can't be told at present
   */
  keyOf(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey | KeyObject | Uint8Array>;
  start(): void;
  stop(): void;
  /** Why tokens can't be verified yet; undefined once they can, even during later outages. */
  notReady(): string | undefined;
}

/** Keys could not be fetched, and none that were fetched before is the token's. */
export class KeysUnavailable extends Error {}

/** One key, which stays. */
export function fixedKey(key: KeyObject | Uint8Array): Keys {
  return {
    keyOf: async () => key,
    start: () => undefined,
    stop: () => undefined,
    notReady: () => undefined,
  };
}

/** A secret that is being changed: tokens of the one before are taken too. */
export function changingSecret(secret: Uint8Array, previous: Uint8Array): Keys {
  const keyOf: Keys['keyOf'] = (_header, token) =>
    flattenedVerify(token, secret).then(
      () => secret,
      () => previous,
    );
  return { ...fixedKey(secret), keyOf };
}

/**
 * @param text of a file: PEM (a public key, or a certificate), or a JWK
 * @throws SluiceError BAD_SETTINGS if it is none, or a key that should not be here
 */
export function publicKey(text: string): KeyObject {
  const expected = 'AUTH_PUBLIC_KEY: expected a file with a public key, as PEM or as JWK, got';
  let jwk: (JsonWebKey & { readonly d?: unknown; readonly k?: unknown }) | undefined;
  try {
    jwk = text.trimStart().startsWith('{') ? (JSON.parse(text) as JsonWebKey) : undefined;
  } catch {
    throw new SluiceError('BAD_SETTINGS', `${expected} text that begins like JSON and is none`);
  }
  if (/PRIVATE KEY-----/.test(text) || jwk?.d !== undefined || jwk?.k !== undefined) {
    throw new SluiceError('BAD_SETTINGS', `${expected} a secret one`);
  }
  try {
    return jwk === undefined ? createPublicKey(text) : createPublicKey({ key: jwk, format: 'jwk' });
  } catch (cause) {
    throw new SluiceError('BAD_SETTINGS', `${expected} something else: ${messageOf(cause)}`, { cause });
  }
}
