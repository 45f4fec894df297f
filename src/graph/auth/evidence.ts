import type { RecordedViewer } from '../../lazy/recorded-viewer.ts';
import { isKnown } from '../../lazy/reads.ts';
import type { Arguments } from '../graph.ts';
import type { Path, Proof, Rule } from './rule.ts';
import { textsIn } from './texts.ts';

/** The values by which rules are judged. */
export interface Evidence {
  readonly viewer: RecordedViewer;
  readonly args: Arguments;
  /** The event or object; undefined when a client subscribes, before there is an event. */
  readonly source: { readonly value: unknown } | undefined;
}

/**
 * Whether the rules let the viewer pass. When a client subscribes, a rule about events to come passes if the viewer
 * has the claim that the events will be compared with. A claim that is absent, or of the wrong type, proves nothing.
 */
export function allPass(rules: readonly Rule[], evidence: Evidence): boolean {
  return rules.every((rule) => rule.some((proofs) => proofs.every((proof) => isProven(proof, evidence))));
}

/** False for an anonymous viewer. */
export function isAuthenticated(viewer: RecordedViewer): boolean {
  return viewer.test('known', [], isKnown);
}

function isProven(proof: Proof, { viewer, args, source }: Evidence): boolean {
  switch (proof.kind) {
    case 'authenticated':
      return isAuthenticated(viewer);
    case 'claim':
      return viewer.test(proof.name, proof.claim, proof.test);
    case 'argument': {
      const value = args[proof.argument];
      const wanted = textsIn(value);
      // An element that can't name a viewer is left out of the texts.
      if (wanted.length === 0 || (Array.isArray(value) && value.length !== wanted.length)) return false;
      return viewer.test(`owns all ${JSON.stringify(wanted)}`, proof.claim, (claim) => {
        const own = new Set(textsIn(claim));
        return wanted.every((text) => own.has(text));
      });
    }
    case 'field': {
      if (source === undefined) {
        return viewer.test('names a viewer', proof.claim, (claim) => textsIn(claim).length > 0);
      }
      const owners = textsIn(valueAt(source.value, proof.field));
      if (owners.length === 0) return false;
      return viewer.test(`owns any ${JSON.stringify(owners)}`, proof.claim, (claim) =>
        textsIn(claim).some((text) => owners.includes(text)),
      );
    }
  }
}

/** Reads own properties and getters of a class, but none of Object.prototype: a value there would own all objects. */
function valueAt(source: unknown, path: Path): unknown {
  let value = source;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (name in Object.prototype && !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
