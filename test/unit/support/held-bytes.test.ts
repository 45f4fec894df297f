import assert from 'node:assert/strict';
import test from 'node:test';
import { ownBytes } from '../../../src/support/byte-budget.ts';
import { HeldBytes } from '../../../src/support/held-bytes.ts';

/** Holders that say when they are flushed, and hold nothing then. */
function setUp(maxBytes: number, ...names: string[]) {
  const source = ownBytes(maxBytes);
  const held = new HeldBytes<{ flush(): void }>(source, (holder) => holder.flush());
  const flushed: string[] = [];
  const bytes = new Map<string, number>();
  const holders = names.map((name) => {
    const holder = {
      flush(): void {
        flushed.push(name);
        holder.grow(-(bytes.get(name) ?? 0));
      },
      grow(more: number): void {
        bytes.set(name, (bytes.get(name) ?? 0) + more);
        held.grow(holder, more);
      },
    };
    return holder;
  });
  return { held, holders, flushed, source };
}

test('up to the bound nothing is flushed, beyond it the one that has held for longest', () => {
  const { held, holders, flushed } = setUp(100, 'a', 'b', 'c');
  for (const { grow } of holders) grow(30);
  holders[0]?.grow(10);
  held.limit();
  assert.deepEqual(flushed, []);
  holders[2]?.grow(1);
  held.limit();
  assert.deepEqual(flushed, ['a']);
  assert.equal(held.total, 61);
});

test('as many are flushed as it takes', () => {
  const { held, holders, flushed } = setUp(100, 'a', 'b', 'c');
  for (const [index, { grow }] of holders.entries()) grow(index === 2 ? 110 : 10);
  held.limit();
  assert.deepEqual(flushed, ['a', 'b', 'c']);
  assert.equal(held.total, 0);
});

test('one that has held nothing for a while counts as new', () => {
  const { held, holders, flushed } = setUp(100, 'a', 'b');
  for (const { grow } of holders) grow(40);
  holders[0]?.grow(-40);
  holders[0]?.grow(70);
  held.limit();
  assert.deepEqual(flushed, ['b', 'a'].slice(0, flushed.length));
  assert.equal(flushed[0], 'b');
});

test('what is held is reserved, and given back', () => {
  const { held, holders, source } = setUp(100, 'a', 'b');
  for (const { grow } of holders) grow(40);
  held.limit();
  assert.equal(source.held, 80);
  holders[0]?.grow(-30);
  assert.equal(source.held, 50);
});
