import assert from 'node:assert/strict';
import test from 'node:test';
import { Table } from '../../../src/support/table.ts';
import { range } from '../../helpers/numbers.ts';

const ROWS = 100_000;

/** Most work of one turn: of what is cheapest, less than a millisecond. */
const WORK_PER_TURN = 2_000;

interface Item {
  readonly index: number;
  readonly size: number | undefined;
  readonly text?: string;
}

/** A table that counts what is done for it. */
function counted(items: readonly Item[], work?: (item: Item) => number) {
  const done = { keys: 0, rows: 0, texts: 0, turns: 1, mostKeysInTurn: 0 };
  let before = 0;
  const measure = (): void => {
    done.mostKeysInTurn = Math.max(done.mostKeysInTurn, done.keys - before);
    before = done.keys;
  };
  const table = new Table<Item>(
    {
      size: () => items.length,
      items: () => items,
      columns: {
        size: ({ size }) => {
          done.keys += 1;
          return size;
        },
        name: ({ index }) => `name ${index % 7}`,
      },
      text: ({ index, text }) => {
        done.texts += 1;
        return text ?? `item ${index}`;
      },
      row: ({ index }) => {
        done.rows += 1;
        return { index };
      },
      ...(work && { work }),
    },
    () => {
      measure();
      done.turns += 1;
      return Promise.resolve();
    },
  );
  const list = async (query: Partial<Parameters<typeof table.list>[0]> = {}, signal?: AbortSignal) => {
    const asked = { sort: 'size', descending: true, limit: 3, search: '', ...query };
    const { rows, ...rest } = await table.list(asked, signal ?? new AbortController().signal);
    measure();
    return { ...rest, rows: (rows as { index: number }[]).map(({ index }) => index) };
  };
  return { table, done, list };
}

const itemsOf = (count: number, size: (index: number) => number): Item[] =>
  range(0, count).map((index) => ({ index, size: size(index) }));

const shuffled = (count: number): Item[] => itemsOf(count, (index) => (index * 61_637) % count);

test('of a hundred thousand, the first few are listed in the order of a column, and all are counted', async () => {
  const items = shuffled(ROWS);
  const { list, done } = counted(items);
  const bySize = items.toSorted((one, other) => Number(other.size) - Number(one.size));
  const indices = bySize.map(({ index }) => index);
  const first = { count: ROWS, matching: ROWS, rows: indices.slice(0, 100) };
  assert.deepEqual(await list({ limit: 100 }), first);
  assert.deepEqual((await list({ limit: 100, descending: false })).rows, indices.slice(-100).toReversed());
  assert.equal(done.rows, 200, 'rows are made of those that are listed only');
});

for (const [order, size] of [
  ['growing', (index: number) => index],
  ['shrinking', (index: number) => -index],
  ['equal', () => 1],
] as const) {
  test(`a hundred thousand of ${order} size are looked at once each, a few in each turn`, async () => {
    const { list, done } = counted(itemsOf(ROWS, size));
    await list({ limit: 1_000 });
    const turns = 1 + ROWS / WORK_PER_TURN;
    // Nothing is searched.
    const expected = { keys: ROWS, rows: 1_000, texts: 0, turns, mostKeysInTurn: WORK_PER_TURN };
    assert.deepEqual(done, expected);
  });
}

test('a turn takes fewer where texts are long or keys are costly', async () => {
  const items = itemsOf(2_000, () => 1).map((item) => ({ ...item, text: 'x'.repeat(100_000) }));
  const searching = counted(items);
  assert.equal((await searching.list({ search: 'xx' })).matching, items.length);
  assert.ok(searching.done.mostKeysInTurn <= 100, `${searching.done.mostKeysInTurn} in a turn`);
  const costly = counted(items, () => 500);
  await costly.list();
  assert.equal(costly.done.mostKeysInTurn, 4);
});

test('a search finds a part of the text in any case, and only what fits is sorted and counted', async () => {
  const { list } = counted(shuffled(1_000));
  const { count, matching, rows } = await list({ search: 'ITEM 99', limit: 20 });
  assert.deepEqual([count, matching], [1_000, 11]);
  assert.deepEqual(rows.toSorted(), [99, ...range(990, 1_000)]);
});

test('what has no value in the column comes last in both orders, and equals stay as they were', async () => {
  const sizes = [undefined, 2, undefined, 1, 2];
  const { list } = counted(sizes.map((size, index) => ({ index, size })));
  assert.deepEqual((await list({ limit: 5 })).rows, [1, 4, 3, 0, 2]);
  assert.deepEqual((await list({ limit: 5, descending: false })).rows, [3, 1, 4, 0, 2]);
  assert.deepEqual((await list({ limit: 5, sort: 'name' })).rows, [4, 3, 2, 1, 0]);
});

test('a listing ends where its client has gone, and though more and more items come', async () => {
  const { list, done } = counted(shuffled(ROWS));
  await assert.rejects(list({}, AbortSignal.abort()), { name: 'AbortError' });
  assert.equal(done.keys, WORK_PER_TURN);

  const growing = new Set([0]);
  const table = new Table<number>({
    size: () => growing.size,
    items: () => growing,
    columns: { value: (value) => (growing.add(value + 1), value) },
    text: String,
    row: (value) => ({ value }),
  });
  const query = { sort: 'value', descending: true, limit: 9, search: '' };
  assert.deepEqual((await table.list(query, new AbortController().signal)).rows, [{ value: 0 }]);
});
