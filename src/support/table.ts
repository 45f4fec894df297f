import { setImmediate as nextTurn } from 'node:timers/promises';
import { Top } from './top.ts';

/** The value by which a row is sorted; undefined comes last. */
type Key = string | number | undefined;

export interface TableQuery {
  /** One of the table's columns. */
  readonly sort: string;
  readonly descending: boolean;
  /** Maximum number of rows. */
  readonly limit: number;
  /** Lists only rows whose text contains this, in upper or lower case; empty: all rows. */
  readonly search: string;
}

export interface Listing {
  /** The number of all items. */
  readonly count: number;
  /** The number of items that fit the search. */
  readonly matching: number;
  /** The first of the matching items. */
  readonly rows: readonly object[];
}

interface TableOptions<Item> {
  readonly size: () => number;
  /** Items may be added and removed during the iteration. */
  readonly items: () => Iterable<Item>;
  /** The columns that rows can be sorted by. Called for each item, so they must be cheap. */
  readonly columns: Readonly<Record<string, (item: Item) => Key>>;
  /** The text that is searched. */
  readonly text: (item: Item) => string;
  /** Called only for items that are listed. */
  readonly row: (item: Item) => object;
  /** How much the key of an item takes to compute; default: 1. */
  readonly work?: (item: Item) => number;
}

/** Keys computed in one turn of the event loop, in less than a millisecond. */
const WORK_PER_TURN = 2_000;

/** To search this many characters is as much work as to compute the key of an item. */
const CHARACTERS = 100;

/** The part of one item's text that is searched, in characters. */
const MAX_SEARCHED = 2_000;

/**
 * Lists the first of many live items, in the order of a column. There may be hundreds of thousands of items, so each
 * turn of the event loop looks at a few of them, and only listed items become rows.
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
      // Items that are added meanwhile could make the loop endless.
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
