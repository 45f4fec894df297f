import { errors, jwtVerify, type JWTPayload } from 'jose';
import { frozenJson } from '../lazy/plain-json.ts';
import type { Log } from '../log.ts';
import { KeysUnavailable, type Keys } from './keys.ts';
import { TokenRefusal } from './refusal.ts';
import type { Claims, Token } from './token.ts';

export interface VerifierOptions {
  readonly keys: Pick<Keys, 'keyOf'>;
  /** The algorithms that tokens may be signed with. A token's own header can't add any. */
  readonly algorithms: readonly string[];
  /** Empty: any. */
  readonly issuers: readonly string[];
  /** Empty: any. */
  readonly audiences: readonly string[];
  readonly toleranceSeconds: number;
  readonly now: () => number;
  readonly log: Log;
}

/** As long as a header may be: a WebSocket message may be longer, and each part of its token is decoded first. */
const MAX_LENGTH = 16_384;

/** Verifies JSON Web Tokens: signature, times, issuer and audience. */
export class TokenVerifier {
  readonly #options: VerifierOptions;

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async verify(text: string): Promise<Token | TokenRefusal> {
    const { keys, algorithms, issuers, audiences, toleranceSeconds, now, log } = this.#options;
    if (text.length > MAX_LENGTH)
      return new TokenRefusal(`Expected a token of at most ${MAX_LENGTH} characters, got ${text.length}`);
    try {
      const { payload } = await jwtVerify(text, (header, token) => keys.keyOf(header, token), {
        algorithms: [...algorithms],
        ...(issuers.length === 0 ? {} : { issuer: [...issuers] }),
        ...(audiences.length === 0 ? {} : { audience: [...audiences] }),
        requiredClaims: ['exp'],
        clockTolerance: toleranceSeconds,
        currentDate: new Date(now()),
      });
      return tokenOf(payload);
    } catch (error) {
      const refusal = refusalFor(error);
      log.debug({ reason: refusal.reason }, 'a token was refused');
      return refusal;
    }
  }
}

function tokenOf(payload: JWTPayload): Token | TokenRefusal {
  try {
    const claims = frozenJson(payload, 'claims') as Claims;
    const { iss: issuer, sub: subject, iat: issuedAt, exp: expiresAt = 0 } = payload;
    return { claims, issuer, subject, issuedAt, expiresAt };
  } catch {
    return new TokenRefusal("The token's claims are nested too deeply");
  }
}

function refusalFor(error: unknown): TokenRefusal {
  if (error instanceof KeysUnavailable) {
    return new TokenRefusal('The keys that tokens are verified with are out of reach', true);
  }
  if (error instanceof errors.JWTExpired) return new TokenRefusal('The token has expired');
  if (error instanceof errors.JWTClaimValidationFailed) {
    // Only the claims that are checked above have errors, so their names are short.
    const { claim, reason } = error;
    return new TokenRefusal(
      `The token's claim ${claim} is ${reason === 'missing' ? 'missing' : 'not as expected'}`,
    );
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new TokenRefusal('The token is signed by an algorithm that is not allowed');
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return new TokenRefusal("The token's signature is wrong");
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return new TokenRefusal('The token does not say by which key it is signed (kid)');
  }
  // jose throws the last two for a key of another type than the token's algorithm needs.
  const isOfAnotherKey =
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JOSENotSupported ||
    error instanceof TypeError;
  if (isOfAnotherKey) return new TokenRefusal('The token is signed by a key that is not known');
  return new TokenRefusal('The token is malformed');
}
