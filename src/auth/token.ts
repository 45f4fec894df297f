import type { Json } from '../lazy/reads.ts';

export type Claims = Readonly<Record<string, Json>>;

/** The part of a token that is kept while its connection is open: not its claims, which may take kilobytes. */
export interface HeldToken {
  readonly issuer: string | undefined;
  readonly subject: string | undefined;
  /** In seconds since 1970, as `expiresAt`. */
  readonly issuedAt: number | undefined;
  readonly expiresAt: number;
}

/** A verified token. */
export interface Token extends HeldToken {
  /** All claims, deep-frozen. */
  readonly claims: Claims;
}

export function heldOf({ issuer, subject, issuedAt, expiresAt }: HeldToken): HeldToken {
  return { issuer, subject, issuedAt, expiresAt };
}

/**
 * Whether two tokens are known to be of the same identity: of the same subject of the same issuer.
 *
 * @returns undefined if neither token names a subject
 */
export function haveSameSubject(one: HeldToken, other: HeldToken): boolean | undefined {
  if (one.subject === undefined && other.subject === undefined) return undefined;
  return one.subject === other.subject && one.issuer === other.issuer;
}
