import { RecordedViewer } from '../../lazy/recorded-viewer.ts';
import { jsonAt, ReadSet, type Json } from '../../lazy/reads.ts';
import type { Compared } from '../../events/compared.ts';
import type { Event } from '../../events/event.ts';
import { shown } from '../filter/compared.ts';
import type { Arguments, EventFilter, SubscriptionAccess } from '../graph.ts';
import { allPass, isAuthenticated } from './evidence.ts';
import { refusal } from './refusal.ts';
import { needsObject, proofsOf, type Proof, type Rule } from './rule.ts';

/** Comparisons that take as long as one proof, which makes texts of claims and owners, and the name of its test. */
const COMPARISONS = 16;

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
  const cost = { comparisons: COMPARISONS * proofsOf(perEvent).length, scans: proofsOf(perEvent).length };
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
            cost,
            passes: (event, viewer) =>
              allPass(perEvent, { viewer: new RecordedViewer(viewer), args, source: { value: event } }),
            compared: (event, viewer) => ({
              directive: '@auth',
              compared: proofsOf(perEvent).flatMap((proof) => owner(proof, event, viewer)),
            }),
          },
  });
}

/** The comparison of an event's owner, for people. Other proofs have been judged when the client subscribed. */
function owner(proof: Proof, event: Event, viewer: Json): Compared[] {
  if (proof.kind !== 'field') return [];
  const { claim, field } = proof;
  const evidence = { viewer: new RecordedViewer(viewer), args: {}, source: { value: event } };
  return [
    {
      path: field.join('.'),
      operator: 'owner',
      operand: ['$viewer', ...claim].join('.'),
      with: shown(jsonAt(viewer, claim)),
      got: shown(jsonAt(event as Json, field)),
      outcome: allPass([[[proof]]], evidence) ? 'holds' : 'fails',
    },
  ];
}

/**
 * A filter that lets an event through only if both filters do.
 *
 * @param one filter of `@filter`
 * @param other filter of `@auth`
 */
export function bothFilters(
  one: EventFilter | undefined,
  other: EventFilter | undefined,
): EventFilter | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    reads: one.reads.union(other.reads),
    cost: {
      comparisons: one.cost.comparisons + other.cost.comparisons,
      scans: one.cost.scans + other.cost.scans,
    },
    passes: (event, viewer) => one.passes(event, viewer) && other.passes(event, viewer),
    get requires() {
      return one.requires ?? other.requires;
    },
    compared: (event, viewer) => ({
      directive: other.passes(event, viewer) ? '@filter' : '@auth',
      compared: [one, other].flatMap((each) => each.compared?.(event, viewer).compared ?? []),
    }),
  };
}
