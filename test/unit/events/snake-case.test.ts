import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import lodash from 'lodash';
import snakecaseKeys from 'snakecase-keys';
import type { JsonValue } from '../../../src/events/event.ts';
import { checkKeys, MAX_DEPTH } from '../../../src/events/safe-keys.ts';
import { SnakeCase } from '../../../src/events/snake-case.ts';

const parse = (text: string) => JSON.parse(text) as JsonValue;

const cells = (row: string) =>
  row
    .split('|')
    .slice(2, -1)
    .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''));

/** Rows of the documented tables: keys, what becomes of them, and what other libraries make of them. */
function rows(): string[][][] {
  const file = path.join(process.cwd(), 'docs/reference/snake-case.md');
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes('`'))
    .map(cells);
}

/** Keys and what they are renamed to: several keys may get the same name. */
function documented(): [string, string][] {
  return rows().flatMap(([keys = [], outcomes = []]) => {
    const last = outcomes.at(-1) ?? '';
    return keys.map((key, index): [string, string] => [key, outcomes[index] ?? last]);
  });
}

test('keys are renamed as the documentation says', () => {
  const outcomes = documented();
  assert.ok(outcomes.length > 25, `expected the whole table, got ${outcomes.length} keys`);
  const snakeCase = new SnakeCase();
  for (const [key, outcome] of outcomes) assert.equal(snakeCase.name(key), outcome, key);
});

test('other libraries rename keys as the documentation says', () => {
  const compared = rows().filter(({ length }) => length === 4);
  assert.ok(compared.length > 5, `expected the whole table, got ${compared.length} rows`);
  for (const [keys = [], ...outcomes] of compared) {
    const [, lodashs, packages] = outcomes;
    assert.deepEqual(keys.map(lodash.snakeCase), lodashs);
    assert.deepEqual(
      keys.flatMap((key) => Object.keys(snakecaseKeys({ [key]: 0 }))),
      packages,
    );
  }
});

test('a renamed key stays the same when it is renamed again', () => {
  const snakeCase = new SnakeCase();
  for (const [, outcome] of documented()) assert.equal(snakeCase.name(outcome), outcome);
});

test('objects at every depth are renamed, arrays stay the same arrays', () => {
  const items = [{ itemId: 1 }, [{ itemId: 2 }], 'itemId', null];
  const outcome = new SnakeCase().transform({ lineItems: items, deepObject: { anotherKey: true } });
  assert.deepEqual(outcome, {
    line_items: [{ item_id: 1 }, [{ item_id: 2 }], 'itemId', null],
    deep_object: { another_key: true },
  });
  assert.equal((outcome as unknown as { line_items: unknown })['line_items'], items);
});

test('when two keys become the same, the later one wins', () => {
  const snakeCase = new SnakeCase();
  assert.deepEqual(snakeCase.transform(parse('{"fooBar":1,"foo_bar":2}')), { foo_bar: 2 });
  assert.deepEqual(snakeCase.transform(parse('{"foo_bar":2,"fooBar":1}')), { foo_bar: 1 });
});

test('the memo never holds more than two generations, for any number of names', () => {
  const snakeCase = new SnakeCase(100);
  for (let id = 0; id < 10_000; id++) snakeCase.name(`someKey${id}`);
  assert.ok(snakeCase.size <= 200, `got ${snakeCase.size}`);
  assert.equal(snakeCase.name('someKey1'), 'some_key1');
});

test('very long names are not remembered', () => {
  const snakeCase = new SnakeCase();
  assert.equal(snakeCase.name(`a${'b'.repeat(200)}C`), `a${'b'.repeat(200)}_c`);
  assert.equal(snakeCase.size, 0);
});

test('a key of a million capitals takes no more than linear work', () => {
  const outcome = new SnakeCase().name('A'.repeat(1_000_000));
  assert.equal(outcome.length, 1_000_000);
});

const nested = (depth: number) => parse('['.repeat(depth) + ']'.repeat(depth));

const walks: [string, (value: JsonValue) => unknown][] = [
  ['SNAKE', (value) => new SnakeCase().transform(value)],
  ['KEEP', (value) => checkKeys(value)],
];

for (const [style, walk] of walks) {
  test(`${style}: nesting is bounded`, () => {
    walk(nested(MAX_DEPTH));
    assert.throws(() => walk(nested(MAX_DEPTH + 1)), { reason: 'too_deep' });
    assert.throws(() => walk(nested(500_000)), { reason: 'too_deep' });
  });

  test(`${style}: keys that could pollute a prototype are refused, at any depth`, () => {
    for (const text of [
      '{"__proto__":{"polluted":1}}',
      '{"a":[{"__proto__":1}]}',
      '{"constructor":{"prototype":{"polluted":1}}}',
    ]) {
      assert.throws(() => walk(parse(text)), { reason: 'forbidden_key' }, text);
    }
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  test(`${style}: a harmless constructor passes`, () => {
    walk(parse('{"constructor":"Ferrari","a":{"constructor":{"name":"Enzo"}},"b":{"constructor":null}}'));
  });
}

test('keys that become forbidden ones by renaming are refused, too', () => {
  const snakeCase = new SnakeCase();
  assert.throws(() => snakeCase.transform(parse('{"__Proto__":1}')), { reason: 'forbidden_key' });
  assert.throws(() => snakeCase.transform(parse('{"Constructor":{"Prototype":1}}')), {
    reason: 'forbidden_key',
  });
  checkKeys(parse('{"__Proto__":1}'));
});
