import { RecordedViewer } from '../../lazy/recorded-viewer.ts';
import { ReadSet } from '../../lazy/reads.ts';
import type { Arguments, EventFilter, SubscriptionAccess } from '../graph.ts';
import { allPass, isAuthenticated } from './evidence.ts';
import { refusal } from './refusal.ts';
import { needsObject, proofsOf, type Rule } from './rule.ts';

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
            compared: () => [`@auth of ${coordinate}: whether the viewer owns the event`],
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
    compared: (event, viewer) =>
      [one, other]
        .filter((each) => !each.passes(event, viewer))
        .flatMap((each) => each.compared?.(event, viewer) ?? []),
  };
}
