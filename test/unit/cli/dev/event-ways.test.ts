import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { EventWays } from '../../../../src/cli/dev/event-ways.ts';
import type { HubStep } from '../../../../src/events/trace.ts';
import type { Message } from '../../../../src/events/message.ts';

const PER_SECOND = 3;

const GROUP = { field: 'order', operation: { name: undefined }, variables: {}, channels: ['orders'] };
const SUBSCRIBERS: ReadonlySet<object> = new Set([{}, {}]);

const record = (offset: number) => ({ topic: 'orders', partition: 0, offset, key: null });

function start(t: TestContext, options: { readonly ingests?: boolean; readonly lagMs?: number } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const told: string[] = [];
  const clock = { now: 0 };
  /** What waits for the hub. */
  const waiting: (() => void)[] = [];
  const hub = { isBusy: false };
  const ways = new EventWays({
    onEnd: ({ place, groups }) => {
      const counts = [...groups.values()].map(
        ({ passing, executions, isHeld }) => `${passing}/${executions}${isHeld ? ' held' : ''}`,
      );
      told.push([place.offset, ...counts].join(' '));
    },
    onLater: ({ place }, { passing }) => void told.push(`${place.offset} later ${passing}`),
    onSkipped: (count) => void told.push(`skipped ${count}`),
    ingests: true,
    lagMs: 0,
    perSecond: PER_SECOND,
    afterWaiting: (callback) => void (hub.isBusy ? waiting.push(callback) : callback()),
    now: () => clock.now,
    ...options,
  });
  const take = (offset: number, ...steps: HubStep['step'][]): void => {
    const message = { t: 'orders', p: 0, o: offset, key: null } as Message;
    const rest = { passing: SUBSCRIBERS, isReplay: false, errors: undefined, channel: '' };
    for (const step of steps) {
      ways.trace({ step, message, group: GROUP, subscribers: SUBSCRIBERS, ...rest } as HubStep);
    }
  };
  return {
    told,
    hub,
    waiting,
    routed: (offset: number) =>
      ways.trace({ step: 'routed', record: record(offset), keys: [], event: {}, channels: ['orders'] }),
    published: (offset: number) => ways.trace({ step: 'published', record: record(offset) }),
    take,
    wholeWay: (offset: number) => take(offset, 'dispatched', 'executed', 'ended'),
    pass(ms: number): void {
      clock.now += ms;
      t.mock.timers.tick(ms);
    },
  };
}

test('an event is told once it is published and all that it was executed for have their results', (t) => {
  const { told, routed, published, take } = start(t);
  routed(0);
  take(0, 'dispatched', 'executed');
  published(0);
  assert.deepEqual(told, []);
  take(0, 'executed', 'ended');
  assert.deepEqual(told, ['0 2/2']);
});

test('an event that still waits for the hub is not told to have no subscriber', (t) => {
  const { told, hub, waiting, routed, published, wholeWay } = start(t);
  hub.isBusy = true;
  routed(0);
  published(0);
  assert.deepEqual(told, []);
  wholeWay(0);
  for (const callback of waiting) callback();
  assert.deepEqual(told, ['0 2/1']);
});

test('over a bus an event has a while to arrive; where others consume, the hub alone tells of it', (t) => {
  const { told, wholeWay, pass } = start(t, { ingests: false, lagMs: 200 });
  wholeWay(5);
  pass(199);
  assert.deepEqual(told, []);
  pass(1);
  assert.deepEqual(told, ['5 2/1']);
});

test('what a throttle delivers later is told then', (t) => {
  const { told, routed, published, take, wholeWay } = start(t);
  routed(0);
  take(0, 'held');
  published(0);
  wholeWay(0);
  assert.deepEqual(told, ['0 0/0 held', '0 later 2']);
});

test('what a throttle holds is told once, and no more when a later event supersedes it', (t) => {
  for (const ingests of [true, false]) {
    const { told, routed, published, take } = start(t, { ingests });
    if (ingests) routed(0);
    take(0, 'held');
    if (ingests) published(0);
    take(0, 'superseded');
    assert.deepEqual(told, ['0 0/0 held'], `ingests: ${ingests}`);
    t.mock.timers.reset();
  }
});

test('of a flood some events are told, and the others are counted', (t) => {
  const { told, routed, published, pass } = start(t);
  const flood = (from: number) => {
    for (let offset = from; offset < from + 1_000; offset += 1) {
      routed(offset);
      published(offset);
    }
  };
  flood(0);
  const { length } = told;
  assert.ok(length <= 2 * PER_SECOND, told.join());
  pass(1_000);
  assert.equal(told.at(-1), `skipped ${1_000 - length}`);
  flood(1_000);
  assert.ok(told.length - length - 1 <= PER_SECOND + 1, told.join());
});
