import type { Event } from '../../events/event.ts';
import { RecordedViewer } from '../../lazy/recorded-viewer.ts';
import { jsonAt, ReadSet, type Json } from '../../lazy/reads.ts';
import type { Arguments, EventFilter, SubscriptionAccess } from '../graph.ts';
import { allPass, isAuthenticated } from './evidence.ts';
import { refusal } from './refusal.ts';
import { shown } from '../filter/compared.ts';
import { needsObject, proofsOf, type Proof, type Rule } from './rule.ts';

/** @param coordinate `Subscription.field` */
export function subscriptionAccess(
  rules: readonly Rule[],
  coordinate: string,
): (args: Arguments) => SubscriptionAccess {
  const perEvent = rules.filter(needsObject);
  const reads = new ReadSet();
  for (const proof of proofsOf(perEvent)) {
    if (proof.kind === 'authenticated') isAuthenticated(new RecordedViewer({}, reads));
    else reads.add('whole', proof.claim);
  }
  return (args) => ({
    refusal: (viewer) => {
      const asked = new RecordedViewer(viewer);
      return allPass(rules, { viewer: asked, args, source: undefined })
        ? undefined
        : refusal(coordinate, asked);
    },
    filter:
      perEvent.length === 0
        ? undefined
        : {
            reads,
            passes: (event, viewer) =>
              allPass(perEvent, { viewer: new RecordedViewer(viewer), args, source: { value: event } }),
            compared: (event, viewer) => ({
              directive: '@auth',
              texts: proofsOf(perEvent).flatMap((proof) => ownerIn(proof, event, viewer)),
            }),
          },
  });
}

/** Both must let an event through. */
export function bothFilters(
  one: EventFilter | undefined,
  other: EventFilter | undefined,
): EventFilter | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    reads: one.reads.union(other.reads),
    passes: (event, viewer) => one.passes(event, viewer) && other.passes(event, viewer),
    compared: (event, viewer) => {
      const refusing = other.passes(event, viewer) ? one : other;
      return refusing.compared?.(event, viewer) ?? { directive: '@filter', texts: [] };
    },
  };
}

/** Whom the event belongs to, beside whom the viewer is: `owner bidder is "bob", the viewer's id is "ann"`. */
function ownerIn(proof: Proof, event: Event, viewer: Json): string[] {
  if (proof.kind !== 'field') return [];
  const [owner, claim] = [jsonAt(event as Json, proof.field), jsonAt(viewer, proof.claim)];
  return [
    `owner ${proof.field.join('.')} is ${shown(owner)}, the viewer's ${proof.claim.join('.')} is ${shown(claim)}`,
  ];
}
