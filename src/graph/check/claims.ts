import type { ASTNode } from 'graphql';
import type { Guards } from '../auth/guards.ts';
import { proofsOf } from '../auth/rule.ts';
import { listed, placeOf, type Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { viewerPathsOf } from '../filter/syntax.ts';

/** A directive that asks for one claim of the viewer or, without a claim, for any authenticated viewer. */
interface Wanted {
  readonly directive: '@auth' | '@filter';
  readonly node: ASTNode | null | undefined;
  readonly claim: string | undefined;
}

const IN_VAIN: Readonly<Record<Wanted['directive'], string>> = {
  '@auth': 'no one may use what it guards',
  '@filter': 'no viewer has a value to compare with',
};

/**
 * Warns of claims that no viewer can have. At run time, the gateway refuses viewers without the claim, or sends them no
 * events, and does not warn: viewers may lack the claim for good reason.
 *
 * @param claims names of values that viewers may have by the settings
 */
export function warnOfAbsentClaims(
  guards: Guards,
  fields: readonly EventField[],
  claims: readonly string[],
  file: string,
  findings: Findings,
): void {
  const warn = ({ directive, node }: Wanted, message: string, hint: string): void =>
    findings.warning(placeOf(node, file), `${directive}: ${message}`, hint);
  const wanted = [...ofGuards(guards), ...ofFilters(fields)];
  const [first] = wanted;
  if (first !== undefined && claims.length === 0) {
    const hint =
      "Set AUTH_SECRET, AUTH_PUBLIC_KEY or AUTH_JWKS_URL, none of which is set here, or write authenticate in the graph's code.";
    return warn(first, `clients have no way to authenticate, so ${IN_VAIN[first.directive]}`, hint);
  }
  const told = new Set<string | undefined>([undefined, ...claims]);
  for (const one of wanted) {
    const { claim } = one;
    if (told.has(claim)) continue;
    told.add(claim);
    warn(
      one,
      `no viewer has "${claim}": AUTH_CLAIMS gives ${listed(claims)}`,
      `Add ${claim} to AUTH_CLAIMS, or ${claim}=… with the name that the claim has in tokens; or write authenticate in the graph's code.`,
    );
  }
}

function ofGuards({ all }: Guards): Wanted[] {
  return all.flatMap(({ type, field, rules }) => {
    const node = (field ?? type).astNode;
    return proofsOf(rules).map((proof): Wanted => ({
      directive: '@auth',
      node,
      claim: 'claim' in proof ? proof.claim[0] : undefined,
    }));
  });
}

function ofFilters(fields: readonly EventField[]): Wanted[] {
  return fields.flatMap(({ field, condition }) =>
    (condition === undefined ? [] : viewerPathsOf(condition)).map(([claim]): Wanted => ({
      directive: '@filter',
      node: field.astNode,
      claim,
    })),
  );
}
