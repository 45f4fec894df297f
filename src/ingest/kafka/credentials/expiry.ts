import { decodeJwt } from 'jose';

/** @returns ms since 1970; undefined if the token is no JSON Web Token, or has no claim `exp` */
export function expiryOf(token: string): number | undefined {
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? undefined : exp * 1_000;
  } catch {
    return undefined;
  }
}
