import type { ConstValueNode } from 'graphql';
import type { ViewerTest } from '../../lazy/reads.ts';
import { scopesIn, textsIn } from './texts.ts';

/** Names from the viewer, or from an event or object, down to one value. */
export type Path = readonly string[];

/** The claim is, or contains, one of some values. */
interface ClaimProof {
  readonly kind: 'claim';
  readonly claim: Path;
  readonly test: ViewerTest;
  /** Tells tests of the same claim apart. */
  readonly name: string;
}

/** One thing that `@auth` asks of a viewer. */
export type Proof =
  /** The viewer has any value at all. */
  | { readonly kind: 'authenticated' }
  | ClaimProof
  /** The argument names the viewer; in a list, each element does. */
  | {
      readonly kind: 'argument';
      readonly claim: Path;
      readonly argument: string;
      readonly node: ConstValueNode;
    }
  /** The field of the event, or of the object that the guarded field belongs to, names the viewer. */
  | { readonly kind: 'field'; readonly claim: Path; readonly field: Path; readonly node: ConstValueNode };

/** A rule holds if all proofs of one of its alternatives hold. A field with several rules needs all of them. */
export type Rule = readonly (readonly Proof[])[];

/** @param values the claim must be, or contain, one of them */
export function claimProof(claim: Path, values: readonly string[]): ClaimProof {
  const texts = claim.at(-1) === 'scope' ? scopesIn : textsIn;
  const test: ViewerTest = (value) => texts(value).some((text) => values.includes(text));
  return { kind: 'claim', claim, test, name: `has ${JSON.stringify(values)}` };
}

export function proofsOf(rules: readonly Rule[]): readonly Proof[] {
  return rules.flat(2);
}

/** Whether a rule can be judged only with the event or object at hand. */
export function needsObject(rule: Rule): boolean {
  return proofsOf([rule]).some(({ kind }) => kind === 'field');
}
