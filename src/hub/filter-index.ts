import type { Event } from '../events/event.ts';
import type { Requirement } from '../graph/graph.ts';
import { jsonAt, type Json } from '../lazy/reads.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';

/** A group, as far as it is indexed. */
export interface Indexed {
  readonly plan: Pick<SubscriptionPlan, 'filter' | 'delivery'>;
}

/** Groups to iterate over, while some leave and others join. */
export interface Some<Group> {
  /** How many they are at most. */
  readonly size: number;
  values(): Iterator<Group>;
}

type OrderOperator = Exclude<Requirement['operator'], 'in'>;

/** The groups that compare the value at one path by one operator, with an operand each. */
interface Matcher<Group> {
  add(group: Group, operands: readonly unknown[]): void;
  delete(group: Group, operands: readonly unknown[]): void;
  matching(value: Json): Some<Group>;
}

/**
 * Finds the groups of a channel whose filters may let an event through, without asking the others: thousands may have the
 * same filter, each with its own operand.
 *
 *     status = $status      'open' ─► groups    'sold' ─► groups      a look into a map
 *     price >= $min         3 ─ 17 ─ 17 ─ 40 ─ 95                     all up to the event's price, in a sorted list
 *     anything else         all
 */
export class FilterIndex<Group extends Indexed> {
  /** Groups whose filter requires nothing indexed, or whose throttle has to see all events before the filter. */
  readonly #others = new Set<Group>();
  readonly #matchers = new Map<string, { readonly path: readonly string[]; readonly by: Matcher<Group> }>();
  /** A group may have another filter by the time it leaves. */
  readonly #places = new Map<Group, { readonly by: Matcher<Group>; readonly operands: readonly unknown[] }>();

  add(group: Group): void {
    const { filter, delivery } = group.plan;
    const required = delivery === undefined ? filter?.requires : undefined;
    if (required === undefined) {
      this.#others.add(group);
      return;
    }
    const by = this.#matcherFor(required);
    by.add(group, required.operands);
    this.#places.set(group, { by, operands: required.operands });
  }

  delete(group: Group): void {
    this.#others.delete(group);
    const place = this.#places.get(group);
    this.#places.delete(group);
    place?.by.delete(group, place.operands);
  }

  matching(event: Event): Some<Group> {
    const found: Some<Group>[] = [this.#others];
    for (const { path, by } of this.#matchers.values()) {
      const value = jsonAt(event as Json, path);
      if (value !== undefined) found.push(by.matching(value));
    }
    const size = found.reduce((sum, some) => sum + some.size, 0);
    return { size, values: () => inTurn(found) };
  }

  #matcherFor({ path, operator, operands: [operand] }: Requirement): Matcher<Group> {
    const key = JSON.stringify([operator, operator === 'in' ? '' : typeof operand, ...path]);
    const known = this.#matchers.get(key);
    if (known !== undefined) return known.by;
    const by = operator === 'in' ? new EqualOperands<Group>() : new OrderedOperands<Group>(operator);
    this.#matchers.set(key, { path, by });
    return by;
  }
}

function* inTurn<Group>(found: readonly Some<Group>[]): Generator<Group, undefined> {
  for (const some of found) {
    const groups = some.values();
    for (let next = groups.next(); next.done !== true; next = groups.next()) yield next.value;
  }
  return undefined;
}

class EqualOperands<Group> implements Matcher<Group> {
  readonly #byOperand = new Map<unknown, Set<Group>>();

  add(group: Group, operands: readonly unknown[]): void {
    for (const operand of operands) {
      const groups = this.#byOperand.get(operand) ?? new Set<Group>();
      this.#byOperand.set(operand, groups.add(group));
    }
  }

  delete(group: Group, operands: readonly unknown[]): void {
    for (const operand of operands) {
      const groups = this.#byOperand.get(operand);
      groups?.delete(group);
      if (groups?.size === 0) this.#byOperand.delete(operand);
    }
  }

  matching(value: Json): Some<Group> {
    return this.#byOperand.get(value) ?? new Set<Group>();
  }
}

type Orderable = number | string;

interface Entry<Group> {
  readonly operand: Orderable;
  /** Undefined once it has left. */
  group: Group | undefined;
}

/** Whether an event's value matches an operand: then it also matches all operands before it in the order. */
const HOLDS: Record<OrderOperator, (value: Orderable, operand: Orderable) => boolean> = {
  gt: (value, operand) => value > operand,
  gte: (value, operand) => value >= operand,
  lt: (value, operand) => value < operand,
  lte: (value, operand) => value <= operand,
};

/** Up to so many new entries, plus an eighth of the sorted ones, are searched one by one before all are sorted again. */
const FRESH = 16;

/** Operands of one type. */
class OrderedOperands<Group> implements Matcher<Group> {
  readonly #operator: OrderOperator;
  readonly #byGroup = new Map<Group, Entry<Group>>();
  /** Replaced, but never changed: an iteration over it may last several turns. */
  #sorted: readonly Entry<Group>[] = [];
  /** In no order yet. */
  #fresh = new Set<Entry<Group>>();
  /** Some sorted entries have left. */
  #hasGone = false;

  constructor(operator: OrderOperator) {
    this.#operator = operator;
  }

  add(group: Group, operands: readonly unknown[]): void {
    const entry = { operand: operands[0] as Orderable, group };
    this.#byGroup.set(group, entry);
    this.#fresh.add(entry);
  }

  delete(group: Group): void {
    const entry = this.#byGroup.get(group);
    if (entry === undefined) return;
    entry.group = undefined;
    this.#byGroup.delete(group);
    if (!this.#fresh.delete(entry)) this.#hasGone = true;
  }

  matching(value: Json): Some<Group> {
    if (this.#hasGone) this.#sorted = this.#sorted.filter(({ group }) => group !== undefined);
    this.#hasGone = false;
    if (this.#fresh.size > FRESH + this.#sorted.length / 8) this.#sort();
    const [fresh, sorted, end] = [this.#fresh, this.#sorted, this.#endOfHolding(value)];
    return {
      size: end + fresh.size,
      *values() {
        for (let at = 0; at < end; at += 1) {
          const group = sorted[at]?.group;
          if (group !== undefined) yield group;
        }
        for (const { group } of fresh) if (group !== undefined) yield group;
      },
    };
  }

  #endOfHolding(value: Json): number {
    const holds = HOLDS[this.#operator];
    let [begin, end] = [0, this.#sorted.length];
    while (begin < end) {
      const middle = (begin + end) >>> 1;
      const { operand } = this.#sorted[middle] as Entry<Group>;
      if (typeof value === typeof operand && holds(value as Orderable, operand)) begin = middle + 1;
      else end = middle;
    }
    return begin;
  }

  #sort(): void {
    // A value that is greater than one operand is also greater than all lower operands.
    const sign = this.#operator.startsWith('g') ? 1 : -1;
    const entries = [...this.#byGroup.values()];
    this.#sorted = entries.toSorted((one, other) => sign * compare(one.operand, other.operand));
    this.#fresh = new Set();
  }
}

function compare(one: Orderable, other: Orderable): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
