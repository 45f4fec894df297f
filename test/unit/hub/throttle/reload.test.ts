import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { EventFilter } from '../../../../src/graph/graph.ts';
import { filterOn, nextGraph, operation, setUp } from '../parts.ts';
import { INTERVAL_MS, Listener, throttled } from './listener.ts';

const asked = operation();

function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const parts = setUp({ binding: { delivery: throttled } });
  let n = 0;
  return {
    ...parts,
    /** Has events with these keys arrive, numbered from 1 on. */
    publish(keys: string, id = 'a'): void {
      for (const key of keys) parts.bus.carry(`bids:id=${id}`, n, { n: (n += 1), key });
    },
    /** Has the graph replaced by one whose results have `more` added to their numbers. */
    replace(more: number, filter?: EventFilter): void {
      const next = nextGraph((_operation, event) => ({
        data: { n: (event as { readonly n: number }).n + more },
      }));
      parts.hub.replaceGraph(next, (plan) => ({ ...plan, operation: { ...plan.operation }, filter }));
    },
  };
}

test('what is held when the graph is replaced begins with the one before, and what comes later waits for the next interval', (t) => {
  const { hub, publish, replace } = start(t);
  const ann = new Listener().join(hub, asked);
  publish('aab');
  t.mock.timers.tick(INTERVAL_MS / 2);
  replace(100);
  assert.equal(ann.said, '1 2 3');
  publish('ab');
  t.mock.timers.tick(INTERVAL_MS - 1);
  assert.equal(ann.said, '1 2 3');
  publish('a');
  t.mock.timers.tick(1);
  assert.equal(ann.said, '1 2 3 105 106+1');
  t.mock.timers.tick(INTERVAL_MS);
  publish('a');
  assert.equal(ann.said, '1 2 3 105 106+1 107');
});

test('what comes after the graph was replaced is filtered by the code of the new one', (t) => {
  const { hub, publish, replace } = start(t);
  const ann = new Listener().join(hub, asked);
  publish('a');
  replace(100, filterOn(undefined, ({ key }) => key === 'b')());
  publish('abab');
  t.mock.timers.tick(INTERVAL_MS);
  assert.equal(ann.said, '1 105+1');
});

/** Its socket is closed by the next result. */
class Leaving extends Listener {
  readonly all: Listener[] = [this];

  override deliver(): void {
    for (const one of this.all) one.leave();
  }
}

test('a connection that ends with what was held when the graph is replaced leaves all its groups', async (t) => {
  const { hub, bus, value, publish, replace } = start(t);
  const first = new Listener().join(hub, asked, { id: 'a' });
  const second = new Leaving();
  const other = new Listener().join(hub, asked, { id: 'b' });
  await bus.acknowledge('bids:id=a', 'bids:id=b');
  publish('a', 'b');
  second.join(hub, asked, { id: 'b' });
  second.all.push(first);
  publish('a', 'b');
  replace(100);
  assert.deepEqual(bus.left, ['bids:id=a']);
  assert.equal(await value('groups'), 1);
  assert.equal(await value('subscribers'), 1);
  t.mock.timers.tick(INTERVAL_MS);
  publish('a', 'b');
  assert.equal(other.said, '1 2 103');
  other.leave();
  assert.equal(await value('groups'), 0);
  assert.deepEqual(bus.left, ['bids:id=a', 'bids:id=b']);
});
