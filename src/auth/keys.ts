import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { flattenedVerify, type CryptoKey, type FlattenedJWSInput, type JWSHeaderParameters } from 'jose';
import { messageOf, SluiceError } from '../errors.ts';

/** The source of the keys that tokens are verified with. */
export interface Keys {
  /**
   * @throws an error of jose if no key matches the token
   * @throws KeysUnavailable if the key may be one that can't be fetched at present
   */
  keyOf(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey | KeyObject | Uint8Array>;
  start(): void;
  stop(): void;
  /** Why tokens can't be verified yet; undefined once they can, even during later outages. */
  notReady(): string | undefined;
}

/** The keys could not be fetched, and no key that was fetched before matches the token. */
export class KeysUnavailable extends Error {}

/** A single key that never changes. */
export function fixedKey(key: KeyObject | Uint8Array): Keys {
  return {
    keyOf: async () => key,
    start: () => undefined,
    stop: () => undefined,
    notReady: () => undefined,
  };
}

/** A secret that is being changed: tokens signed with the previous secret are accepted too. */
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
 * @throws SluiceError BAD_SETTINGS if the text is no key, or a secret one
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
