import { declarationsOf } from './declarations.ts';
import { isBeside, podLabels, selects, titleOf, type Manifest } from './manifests.ts';
import type { Peer } from './peers.ts';

/** What one line of a network policy lets through: some ports of one peer. */
export interface Opening {
  /** How faults name the policy. */
  readonly policy: string;
  readonly peer: Peer;
  readonly protocol: string;
  readonly from: number;
  readonly to: number;
  /** Ports that no setting names, as the policy declares with a reason. */
  readonly declared: ReadonlySet<number>;
}

type Direction = 'ingress' | 'egress';

/** The network policies for a gateway's pods. */
export const policiesFor = (manifests: readonly Manifest[], gateway: Manifest): Manifest[] =>
  manifests.filter(
    (one) =>
      one.kind === 'NetworkPolicy' &&
      isBeside(one, gateway) &&
      selects(one.spec.podSelector ?? {}, podLabels(gateway)),
  );

/** Whether a policy closes what it does not let through, in that direction. */
export function closes({ spec }: Manifest, direction: Direction): boolean {
  const types: readonly string[] = spec.policyTypes ?? ['Ingress', ...(spec.egress ? ['Egress'] : [])];
  return types.some((type) => type.toLowerCase() === direction);
}

/** What a policy lets through, and what is wrong with how it says so. */
export function openingsOf(
  policy: Manifest,
  direction: Direction,
): { openings: Opening[]; faults: string[] } {
  const title = titleOf(policy);
  const { ports: declared } = declarationsOf(policy);
  const faults: string[] = [];
  const openings: Opening[] = [];
  const rules = closes(policy, direction) ? (policy.spec[direction] ?? []) : [];
  for (const rule of rules) {
    const peers: readonly Peer[] = (direction === 'ingress' ? rule.from : rule.to) ?? [];
    if (peers.length === 0) {
      faults.push(
        `${title}: expected ${direction} rules to say ${direction === 'ingress' ? 'from' : 'to'} whom, got one for all`,
      );
    }
    const ports: readonly { port?: unknown; endPort?: number; protocol?: string }[] = rule.ports ?? [];
    if (ports.length === 0)
      faults.push(`${title}: expected ${direction} rules to name ports, got one for all ports`);
    for (const { port, endPort, protocol = 'TCP' } of ports) {
      if (typeof port !== 'number') {
        faults.push(`${title}: expected ports as numbers, got ${port ?? `all of ${protocol}`}`);
        continue;
      }
      for (const peer of peers) {
        openings.push({ policy: title, peer, protocol, from: port, to: endPort ?? port, declared });
      }
    }
  }
  return { openings, faults };
}
