import type { Json, ReadSet } from '../lazy/reads.ts';

/** Whatever has a viewer. */
interface Viewing {
  readonly viewer: Json;
}

/** Members in buckets: those in one bucket agree on all that a set of reads looks at. */
export class Bucketing<Member extends Viewing> {
  readonly reads: ReadSet;
  readonly #buckets = new Map<string, Set<Member>>();

  /** @param reads must not grow any more */
  constructor(reads: ReadSet, members: Iterable<Member>) {
    this.reads = reads;
    for (const member of members) this.add(member);
  }

  /** Those who agree with this viewer, whether it is a member's or not. */
  like(viewer: Json): ReadonlySet<Member> {
    return this.#buckets.get(this.reads.valuesIn(viewer)) ?? new Set();
  }

  get buckets(): Iterable<ReadonlySet<Member>> {
    return this.#buckets.values();
  }

  add(member: Member): void {
    const values = this.reads.valuesIn(member.viewer);
    const bucket = this.#buckets.get(values);
    if (bucket === undefined) this.#buckets.set(values, new Set([member]));
    else bucket.add(member);
  }

  remove(member: Member): void {
    const values = this.reads.valuesIn(member.viewer);
    const bucket = this.#buckets.get(values);
    if (bucket?.delete(member) === true && bucket.size === 0) this.#buckets.delete(values);
  }
}

/** A graph reads its viewers in a handful of ways. Past that the oldest bucketing is made anew when it is needed. */
const MAX_BUCKETINGS = 8;

/** The bucketings of one group's members, by read set, kept up to date as members join and leave. */
export class Bucketings<Member extends Viewing> {
  readonly #members: ReadonlySet<Member>;
  readonly #byReads = new Map<string, Bucketing<Member>>();

  constructor(members: ReadonlySet<Member>) {
    this.#members = members;
  }

  of(reads: ReadSet): Bucketing<Member> {
    const { identity } = reads;
    const known = this.#byReads.get(identity);
    if (known !== undefined) {
      // The last to leave is the one used last.
      this.#byReads.delete(identity);
      this.#byReads.set(identity, known);
      return known;
    }
    const bucketing = new Bucketing(reads.snapshot(), this.#members);
    const [oldest] = this.#byReads.keys();
    if (this.#byReads.size === MAX_BUCKETINGS && oldest !== undefined) this.#byReads.delete(oldest);
    this.#byReads.set(identity, bucketing);
    return bucketing;
  }

  add(member: Member): void {
    for (const bucketing of this.#byReads.values()) bucketing.add(member);
  }

  remove(member: Member): void {
    for (const bucketing of this.#byReads.values()) bucketing.remove(member);
  }
}
