import { SignJWT, type JWTPayload } from 'jose';

/** The secret of the gateways under test. */
export const SECRET = 'a secret of at least thirty-two bytes';

/** Returns a token that expires in `expiresInSeconds`. */
export function signToken(claims: JWTPayload, expiresInSeconds = 3_600, secret = SECRET): Promise<string> {
  const now = Date.now() / 1000;
  return new SignJWT({ iat: Math.floor(now), exp: Math.floor(now + expiresInSeconds), ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from(secret));
}
