import type { Event } from '../events/event.ts';
import { FilterIndex, type Indexed, type Some } from './filter-index.ts';

/** Most channels have few groups: asking all of them is faster than an index, and needs no memory for one. */
const INDEXED_FROM = 32;

/** The groups that listen to one channel. */
export class ChannelGroups<Group extends Indexed> implements Some<Group> {
  readonly #all = new Set<Group>();
  #index: FilterIndex<Group> | undefined;

  get size(): number {
    return this.#all.size;
  }

  values(): IterableIterator<Group> {
    return this.#all.values();
  }

  [Symbol.iterator](): IterableIterator<Group> {
    return this.#all.values();
  }

  has(group: Group): boolean {
    return this.#all.has(group);
  }

  add(group: Group): void {
    this.#all.add(group);
    if (this.#index !== undefined) this.#index.add(group);
    else if (this.#all.size >= INDEXED_FROM) this.#index = indexOf(this.#all);
  }

  /** @returns false if it did not listen */
  delete(group: Group): boolean {
    this.#index?.delete(group);
    return this.#all.delete(group);
  }

  /** The filters of groups have changed. */
  renewed(): void {
    if (this.#index !== undefined) this.#index = indexOf(this.#all);
  }

  /** Leaves out groups whose filters would let the event through for no subscriber. */
  concernedBy(event: Event): Some<Group> {
    return this.#index?.matching(event) ?? this;
  }
}

function indexOf<Group extends Indexed>(groups: Iterable<Group>): FilterIndex<Group> {
  const index = new FilterIndex<Group>();
  for (const group of groups) index.add(group);
  return index;
}
