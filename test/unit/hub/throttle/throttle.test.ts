import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { HeldBytes } from '../../../../src/support/held-bytes.ts';
import type { Json } from '../../../../src/lazy/reads.ts';
import type { Timers } from '../../../../src/support/clock.ts';
import { Flusher } from '../../../../src/transports/delivery/flusher.ts';
import { range } from '../../../helpers/numbers.ts';
import { byRole, operation, settled, setUp, turns } from '../parts.ts';
import { INTERVAL_MS, Listener, throttled } from './listener.ts';

const asked = operation();

/** A hub with a throttled field, on virtual time. */
function start(t: TestContext, { binding, ...options }: NonNullable<Parameters<typeof setUp>[0]> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const timed: number[] = [];
  t.mock.method(Flusher.prototype, 'timed', ({ ts }: { readonly ts: number }) => timed.push(ts));
  const parts = setUp({ ...options, binding: { delivery: throttled, ...binding } });
  let now = 0;
  let n = 0;
  const listener = (viewer?: Json): Listener => new Listener(() => now, viewer).join(parts.hub, asked);
  return {
    ...parts,
    listener,
    /** Offsets of the events of which the delay is measured. */
    timed,
    /** Has events with these keys arrive, numbered from 1 on. */
    publish(keys: string, more: object = {}): void {
      for (const key of keys) parts.bus.carry('bids:id=a', n, { n: (n += 1), key, ...more });
    },
    pass(ms: number): void {
      now += ms;
      t.mock.timers.tick(ms);
    },
  };
}

test('of the events of an interval each key has its latest delivered, in the order in which these came', (t) => {
  const { listener, publish, pass } = start(t);
  const ann = listener();
  publish('a');
  assert.equal(ann.said, '1');
  publish('abac');
  pass(INTERVAL_MS - 1);
  publish('a');
  assert.equal(ann.said, '1');
  pass(1);
  assert.equal(ann.said, '1 3 5 6+2');
  publish('b');
  pass(INTERVAL_MS);
  assert.equal(ann.said, '1 3 5 6+2 7');
});

test('an event that comes while those of the last interval take several turns comes behind them', async (t) => {
  const { bus, listener, pass } = start(t, { maxWaiting: 10_000 });
  const ann = listener();
  const numbers = range(0, 2_000);
  for (const n of numbers) bus.carry('bids:id=a', n, { n, key: `${n}` });
  pass(INTERVAL_MS);
  assert.ok(ann.heard.length < numbers.length, 'they take more than one turn');
  pass(INTERVAL_MS);
  bus.carry('bids:id=a', 2_000, { n: 2_000, key: '2000' });
  for (let turn = 0; turn < 1_000 && ann.heard.length < numbers.length; turn += 1) await settled();
  pass(INTERVAL_MS);
  await turns(10);
  const heard = ann.heard.map(({ n }) => n);
  assert.deepEqual(heard, [...numbers, 2_000]);
});

test('how long a throttle holds an event is not counted as delay', (t) => {
  const { listener, publish, pass, timed } = start(t);
  listener();
  publish('aaa');
  assert.deepEqual(timed, [0]);
  pass(INTERVAL_MS);
  assert.deepEqual(timed, [0]);
  pass(INTERVAL_MS);
  publish('a');
  assert.deepEqual(timed, [0, 3]);
});

test('what is left out is not executed, and what is not is executed once for all', async (t) => {
  const { listener, publish, pass, value, metrics } = start(t);
  const all = Array.from({ length: 20 }, () => listener());
  publish('a'.repeat(100));
  pass(INTERVAL_MS);
  for (const { said } of all) assert.equal(said, '1 100+98');
  assert.equal(await value('executions'), 2);
  assert.equal((await metrics.throttledEvents.get()).values[0]?.value, 98);
});

test('subscribers of the same count share bytes', (t) => {
  const { hub, publish, pass } = start(t);
  const results = new Set<unknown>();
  for (let count = 0; count < 5; count += 1) {
    const listener = new Listener().join(hub, asked);
    const deliver = listener.deliver.bind(listener);
    listener.deliver = (result) => {
      results.add(result.telling(result.leftOutFor(listener), true).json);
      deliver(result);
    };
  }
  publish('aaa');
  pass(INTERVAL_MS);
  assert.equal(results.size, 2);
});

test('thousands of subscribers that join at any time share intervals and executions', async (t) => {
  const { hub, publish, pass, value } = start(t, { maxWaiting: 10_000 });
  const all: Listener[] = [];
  const timers = t.mock.method(globalThis, 'setTimeout');
  for (let interval = 0; interval < 3; interval += 1) {
    for (let count = 0; count < 1_000; count += 1) {
      all.push(new Listener().join(hub, asked));
      if (count % 100 === 0) publish('ab');
    }
    pass(INTERVAL_MS);
    await turns(10);
  }
  // The very first event comes at once; in each interval then the latest of both keys.
  assert.equal(await value('executions'), 1 + 3 * 2);
  // Other files of this process may have left timers that begin anew.
  const intervals = timers.mock.calls.filter(({ arguments: [, ms] }) => ms === INTERVAL_MS);
  assert.equal(intervals.length, 4);
  // The last hundred have joined when the last events had come, but for one.
  for (const listener of all.slice(0, -99)) assert.equal(listener.heard.at(-1)?.n, 60);
  for (const listener of all.slice(-99)) assert.equal(listener.said, '');
  assert.equal(all[0]?.said, '1 19+8 20+9 39+9 40+9 59+9 60+9');
});

test('intervals of thousands of groups that end together take several turns', async (t) => {
  const { hub, publish, pass } = start(t);
  const all = Array.from({ length: 3_000 }, () => new Listener().join(hub, operation()));
  publish('a');
  await turns(200);
  publish('a');
  const heard = (): number => all.filter(({ said }) => said === '1 2').length;
  assert.equal(heard(), 0);
  pass(INTERVAL_MS);
  assert.ok(heard() > 0 && heard() < 1_000, `${heard()} in the turn in which they end`);
  await turns(200);
  assert.equal(heard(), 3_000);
});

test('when the last subscriber leaves, no timer is left', (t) => {
  const running = new Set<unknown>();
  const timers: Timers = {
    after: (_ms, callback) => {
      running.add(callback);
      return () => void running.delete(callback);
    },
  };
  const { listener, publish } = start(t, { timers });
  const [ann, bob] = [listener(), listener()];
  publish('aa');
  ann.leave();
  assert.equal(running.size, 1);
  bob.leave();
  assert.equal(running.size, 0);
});

test('with a filter by viewer, each viewer gets the latest of the events that it may see', async (t) => {
  const { listener, publish, pass, value } = start(t, { binding: { filter: byRole } });
  const ann = listener({ role: 'buyer' });
  const bob = listener({ role: 'seller' });
  publish('a');
  publish('aa', { roles: ['buyer', 'seller'] });
  publish('a', { roles: ['seller'] });
  publish('a', { roles: ['guest'] });
  pass(INTERVAL_MS);
  assert.equal(ann.said, '1 3+1');
  assert.equal(bob.said, '1 4+2');
  assert.equal(await value('executions'), 3);
});

test('an event that passes for no subscriber begins no interval, and is counted', async (t) => {
  const { listener, publish, metrics } = start(t, { binding: { filter: byRole } });
  const ann = listener({ role: 'buyer' });
  publish('a', { roles: ['guest'] });
  publish('a');
  assert.equal(ann.said, '2');
  assert.equal((await metrics.filtered.get()).values[0]?.value, 1);
});

test('a subscriber whose viewer changes still gets what is held for it, as far as it may see it', (t) => {
  const { listener, publish, pass } = start(t, { binding: { filter: byRole } });
  const ann = listener({ role: 'buyer' });
  publish('a');
  publish('a', { roles: ['buyer', 'guest'] });
  publish('b', { roles: ['buyer'] });
  ann.become({ role: 'guest' });
  publish('c', { roles: ['guest'] });
  pass(INTERVAL_MS);
  assert.equal(ann.said, '1 2 4');
});

test('what is held is delivered before a gap is told', (t) => {
  const { bus, listener, publish } = start(t);
  const ann = listener();
  publish('aaa');
  bus.gap('bids');
  assert.equal(ann.said, '1 3+1');
  assert.deepEqual(ann.gaps, [2]);
});

test('what is held is delivered before all subscribers are ended with an error', async (t) => {
  const { bus, listener, publish } = start(t);
  const ann = listener();
  publish('aaa');
  await bus.refuse('bids:id=a');
  assert.equal(ann.said, '1 3+1');
  assert.equal(ann.isJoined, false);
});

test('no more is held than may wait: then the interval ends early', (t) => {
  const { listener, publish, pass } = start(t, { maxWaiting: 3 });
  const ann = listener();
  publish('xabc');
  assert.equal(ann.said, '1 2 3 4');
  publish('a');
  pass(INTERVAL_MS - 1);
  assert.equal(ann.said, '1 2 3 4');
  pass(1);
  assert.equal(ann.said, '1 2 3 4 5');
});

test('beyond the bytes that a pod may hold, the interval that has held for longest ends early', async (t) => {
  const { hub, bus, pass } = start(t, { maxWaiting: 10_000 });
  const text = 'x'.repeat(1024 * 1024);
  const [ann, bob] = ['a', 'b'].map((id) => new Listener().join(hub, asked, { id }));
  const say = (id: string, n: number): void => bus.carry(`bids:id=${id}`, n, { n, key: `${n}`, text });
  for (let n = 0; n <= 10; n += 1) say('a', n);
  for (let n = 0; n <= 53; n += 1) say('b', n);
  assert.deepEqual([ann?.heard.length, bob?.heard.length], [1, 1]);
  say('b', 54);
  await turns(20);
  assert.deepEqual([ann?.heard.length, bob?.heard.length], [11, 1]);
  pass(INTERVAL_MS);
  await turns(100);
  assert.deepEqual([ann?.heard.length, bob?.heard.length], [11, 55]);
});

test('what is superseded, delivered or left by its subscribers is held no more', (t) => {
  const grow = t.mock.method(HeldBytes.prototype, 'grow');
  const bytes = (): number => grow.mock.calls.reduce((sum, call) => sum + call.arguments[1], 0);
  const { listener, publish, pass } = start(t, { binding: { filter: byRole } });
  const [ann, bob] = [listener({ role: 'buyer' }), listener({ role: 'seller' })];
  publish('aab');
  const held = bytes();
  publish('ab');
  assert.equal(bytes(), held);
  ann.become({ role: 'seller' });
  pass(INTERVAL_MS);
  assert.equal(bytes(), 0);
  publish('ab');
  assert.ok(bytes() > 0);
  bob.leave();
  assert.ok(bytes() > 0);
  ann.leave();
  assert.equal(bytes(), 0);
});

test('a subscriber whose connection is to be closed gets what is held for it alone, executed once for all', async (t) => {
  const { listener, publish, pass, value } = start(t);
  const [ann, bob] = [listener(), listener()];
  publish('aab');
  ann.group.flushFor(ann);
  assert.equal(ann.said, '1 2 3');
  assert.equal(bob.said, '1');
  pass(INTERVAL_MS);
  assert.equal(ann.said, '1 2 3');
  assert.equal(bob.said, '1 2 3');
  assert.equal(await value('executions'), 3);
});
