import { jsonAt, type Json } from '../lazy/reads.ts';
import type { Config } from '../config/settings.ts';
import type { Claims } from './token.ts';

/** One claim that becomes a property of the viewer. */
interface PickedClaim {
  readonly property: string;
  readonly claim: string;
}

/** Reads an entry of the setting AUTH_CLAIMS: `role`, or `id=sub` for a property of another name. */
function pickedClaim(text: string): PickedClaim {
  const at = text.indexOf('=');
  return { property: text.slice(0, Math.max(at, 0)) || text, claim: text.slice(at + 1) };
}

/** Names of a viewer's properties in a graph without `authenticate`; none if no key verifies tokens. */
export function claimedNames({
  AUTH_SECRET,
  AUTH_PUBLIC_KEY,
  AUTH_JWKS_URL,
  AUTH_CLAIMS,
}: Pick<Config, 'AUTH_SECRET' | 'AUTH_PUBLIC_KEY' | 'AUTH_JWKS_URL' | 'AUTH_CLAIMS'>): readonly string[] {
  const key = AUTH_SECRET ?? AUTH_PUBLIC_KEY ?? AUTH_JWKS_URL;
  return key === undefined ? [] : AUTH_CLAIMS.map((text) => pickedClaim(text).property);
}

/** Makes viewers of claims. */
export class ClaimPicker {
  readonly #picked: readonly PickedClaim[];

  /** @param texts the setting AUTH_CLAIMS */
  constructor(texts: readonly string[]) {
    this.#picked = texts.map(pickedClaim);
  }

  /** Claims that the token does not have are left out. */
  viewerOf(claims: Claims): Json & object {
    const viewer: [string, Json][] = [];
    for (const { property, claim } of this.#picked) {
      const value = claimAt(claims, claim);
      if (value !== undefined) viewer.push([property, value]);
    }
    return Object.freeze(Object.fromEntries(viewer));
  }
}

/** A claim's name may contain dots, as a URL does: a claim of exactly this name takes precedence over the path. */
function claimAt(claims: Claims, claim: string): Json | undefined {
  return Object.hasOwn(claims, claim) ? claims[claim] : jsonAt(claims, claim.split('.'));
}
