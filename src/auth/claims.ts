import { jsonAt, type Json } from '../lazy/reads.ts';
import type { Claims } from './token.ts';

/** One claim that becomes a property of the viewer. */
interface PickedClaim {
  readonly property: string;
  readonly claim: string;
}

/** Reads the setting AUTH_CLAIMS: `role`, or `id=sub` for a property of another name. */
function pickedClaim(text: string): PickedClaim {
  const at = text.indexOf('=');
  return { property: text.slice(0, Math.max(at, 0)) || text, claim: text.slice(at + 1) };
}

/** Makes viewers of claims. */
export class ClaimPicker {
  readonly #picked: readonly PickedClaim[];

  /** The names that a viewer's properties have. */
  get properties(): readonly string[] {
    return this.#picked.map(({ property }) => property);
  }

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

/** Names of claims may contain dots, as those that are URLs do: such a claim goes before the path. */
function claimAt(claims: Claims, claim: string): Json | undefined {
  return Object.hasOwn(claims, claim) ? claims[claim] : jsonAt(claims, claim.split('.'));
}
