import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event, JsonValue, KeyStyle } from '../../../src/events/event.ts';
import { SnakeCase } from '../../../src/events/snake-case.ts';
import { keyValuesOf } from '../../../src/ingest/key-values.ts';
import { range } from '../../helpers/numbers.ts';
import { Random } from '../../helpers/random.ts';
import { topic } from './parts.ts';

const ID = 'customer.customer_id';

const readerOf = (keys: readonly string[], keyStyle: KeyStyle = 'SNAKE') =>
  keyValuesOf(topic('orders', { keys, keyStyle }), new SnakeCase());

/** @returns undefined if the event has nothing there */
const valueOf = (event: Event, key = ID, keyStyle?: KeyStyle): JsonValue | undefined => {
  const values = readerOf([key], keyStyle)(event);
  return Object.hasOwn(values, key) ? values[key] : undefined;
};

const NAMES = ['customer', 'Customer', 'customer_id', 'customerId', 'CUSTOMER_ID', 'x'];

/** Objects in each other, with names of which some become the same. */
function tangled(random: Random, depth = 0): JsonValue {
  if (depth === 4 || (depth > 0 && random.chance(0.3)))
    return random.pick([7, 'a', null, true, ['1', 2], [{ customer_id: 3 }]]);
  const fields = range(0, random.between(0, 4)).map(() => [random.pick(NAMES), tangled(random, depth + 1)]);
  return Object.fromEntries(fields) as Event;
}

function below(event: Event, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((value, name) => {
    if (value === null || typeof value !== 'object') return value === null ? null : undefined;
    return Array.isArray(value) ? undefined : value[name];
  }, event);
}

describe('the values of the keys of an event', () => {
  it('are those that stand in objects of it', () => {
    assert.equal(valueOf({ customer: { customer_id: 'a' } }), 'a');
    assert.equal(valueOf({ Customer: { customerId: 7, other: 8 } }), 7);
    assert.deepEqual(valueOf({ customer: { customerId: ['a', 'b'] } }), ['a', 'b']);
    assert.equal(valueOf({ a: { b: { c: { d: false } } } }, 'a.b.c.d'), false);
  });

  it('are none where an object on the way is missing, or something else', () => {
    for (const customer of ['a', 7, [], [{ customer_id: 7 }], {}, { customer: 7 }]) {
      assert.equal(valueOf({ customer }), undefined, JSON.stringify(customer));
    }
    assert.equal(valueOf({ customer_id: 7, 'customer.customer_id': 7 }), undefined);
    assert.equal(valueOf({ customer_id: 7, 'customer.customer_id': 7 }, ID, 'KEEP'), undefined);
    for (const style of ['SNAKE', 'KEEP'] as const) {
      assert.equal(valueOf({ a: {} }, 'a.constructor.name', style), undefined);
      assert.equal(valueOf({}, 'constructor.name', style), undefined);
    }
  });

  it('are null where an object on the way is: the producer says that there is none', () => {
    assert.equal(valueOf({ customer: null }), null);
    assert.equal(valueOf({ customer: { customer_id: null } }), null);
  });

  it('stand beside those at the top of the event', () => {
    for (const style of ['SNAKE', 'KEEP'] as const) {
      const values = readerOf(
        ['id', ID, 'customer.name'],
        style,
      )({
        id: 1,
        customer: { customer_id: 2, name: 3 },
      });
      assert.deepEqual([values['id'], values[ID], values['customer.name']], [1, 2, 3]);
    }
  });

  it('have the names that keys: KEEP leaves as they are', () => {
    assert.equal(valueOf({ theCustomer: { customerId: 7 } }, 'theCustomer.customerId', 'KEEP'), 7);
    assert.equal(valueOf({ theCustomer: { customer_id: 7 } }, 'theCustomer.customerId', 'KEEP'), undefined);
  });

  it('are read from the event as it is, without a copy, where no name has to be found', () => {
    const event = { theId: 7 };
    assert.equal(readerOf(['theId'], 'KEEP')(event), event);
  });

  it('are those that the event has once its keys are renamed', () => {
    const keys = ['customer', 'customer_id', ID, 'customer.customer.customer_id', 'customer.x', 'x.customer'];
    const [read, snakeCase, random] = [readerOf(keys), new SnakeCase(), new Random(7)];
    let found = 0;
    for (const seed of range(0, 3_000)) {
      const event = tangled(random) as Event;
      const values = read(event);
      const renamed = snakeCase.transform(structuredClone(event));
      for (const key of keys) {
        const expected = below(renamed, key.split('.'));
        const got = Object.hasOwn(values, key) ? values[key] : undefined;
        if (expected !== undefined && key.includes('.')) found += 1;
        const isObject = typeof expected === 'object' && expected !== null && !Array.isArray(expected);
        // Events are not routed by objects, whose own keys are renamed later.
        if (!isObject) assert.deepEqual(got, expected, `${seed} ${key} of ${JSON.stringify(event)}`);
      }
    }
    assert.ok(found > 300, `expected nested values, got ${found}`);
  });
});
