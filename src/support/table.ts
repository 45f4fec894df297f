import { setImmediate as nextTurn } from 'node:timers/promises';
import { Top } from './top.ts';

/** What a row is sorted by; undefined comes last. */
type Key = string | number | undefined;

export interface TableQuery {
  /** One of the table's columns. */
  readonly sort: string;
  readonly descending: boolean;
  /** Most rows. */
  readonly limit: number;
  /** Rows whose text has it in it, in any case; empty: all. */
  readonly search: string;
}

export interface Listing {
  /** The number of all items. */
  readonly count: number;
  /** The number of items that fit the search. */
  readonly matching: number;
  /** The first of these. */
  readonly rows: readonly object[];
}

interface TableOptions<Item> {
  readonly size: () => number;
  /** Items may come and go while they are looked at. */
  readonly items: () => Iterable<Item>;
  /** The columns that rows can be sorted by. Called for each item, so they must be cheap. */
  readonly columns: Readonly<Record<string, (item: Item) => Key>>;
  /** What is searched. */
  readonly text: (item: Item) => string;
  /** Called for the items that are listed. */
  readonly row: (item: Item) => object;
  /** How much the key of an item takes to compute; default: 1. */
  readonly work?: (item: Item) => number;
}

/** Looked at in one turn of the event loop, less than a millisecond. */
const WORK_PER_TURN = 2_000;

/** Searching so many characters is as much work as the key of an item. */
const CHARACTERS = 100;

/** The part of one item's text that is searched, in characters. */
const MAX_SEARCHED = 2_000;

/**
 * Many living things as rows: the first few in the order of a column. There may be hundreds of thousands, so they are
 * looked at a few in each turn of the event loop, and a row is made of none but those that are listed.
 */
export class Table<Item> {
  readonly #options: TableOptions<Item>;
  readonly #pause: () => Promise<unknown>;

  /** @param pause resolves in a later turn of the event loop */
  constructor(options: TableOptions<Item>, pause: () => Promise<unknown> = () => nextTurn()) {
    this.#options = options;
    this.#pause = pause;
  }

  get size(): number {
    return this.#options.size();
  }

  get columns(): readonly string[] {
    return Object.keys(this.#options.columns);
  }

  /** @throws if the signal aborts */
  async list(query: TableQuery, signal: AbortSignal): Promise<Listing> {
    const { items, columns, text, row, work = () => 1 } = this.#options;
    const keyOf = columns[query.sort];
    if (keyOf === undefined) throw new TypeError(`expected a column of the table, got ${query.sort}`);
    const search = query.search.toLowerCase();
    const count = this.size;
    const top = new Top<Item, Key>(query.limit, query.descending ? descending : ascending);
    let [looked, matching, spent] = [0, 0, 0];
    for (const item of items()) {
      // Items that have come meanwhile may never end.
      if (looked === count) break;
      looked += 1;
      spent += work(item);
      let isMatching = true;
      if (search !== '') {
        const searched = text(item).slice(0, MAX_SEARCHED);
        spent += searched.length / CHARACTERS;
        isMatching = searched.toLowerCase().includes(search);
      }
      if (isMatching) {
        matching += 1;
        top.add(item, keyOf(item));
      }
      if (spent < WORK_PER_TURN) continue;
      spent = 0;
      await this.#pause();
      signal.throwIfAborted();
    }
    return { count, matching, rows: top.items.map(row) };
  }
}

function ascending(one: Key, other: Key): number {
  if (one === other) return 0;
  if (one === undefined) return 1;
  if (other === undefined) return -1;
  return one < other ? -1 : 1;
}

function descending(one: Key, other: Key): number {
  return one === undefined || other === undefined ? ascending(one, other) : ascending(other, one);
}
