import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test, { type TestContext, type TestOptions } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import type { Publication } from '../../src/events/publisher.ts';
import type { Metrics } from '../../src/metrics.ts';
import { eventually } from '../helpers/eventually.ts';
import { Inbox } from '../helpers/inbox.ts';
import { range } from '../helpers/numbers.ts';

export interface BusUnderTest {
  readonly bus: Bus;
  readonly metrics: Metrics;
  /** How many of the bus's clients are on a channel, asked of the bus itself; undefined: it has no such count. */
  readonly joins?: (channel: string) => Promise<number>;
}

const TOPIC = 'topic';

type MakeBus = (t: TestContext, options: { lingerMs: number; maxChannels: number }) => Promise<BusUnderTest>;

const MAX_CHANNELS = 10;

/** What every bus must do. `make` gives a started bus. */
export function testBus(name: string, options: TestOptions, make: MakeBus): void {
  const it = (title: string, run: (under: BusUnderTest) => Promise<void>, lingerMs = 60_000): void => {
    test(`${name}: ${title}`, options, async (t) =>
      run(await make(t, { lingerMs, maxChannels: MAX_CHANNELS })),
    );
  };
  let count = 0;
  const freshChannel = (): string => `bus-contract-${process.pid}-${Date.now()}-${(count += 1)}`;

  it('once ready, a listener gets every message of its channel, in order', async ({ bus }) => {
    const channel = freshChannel();
    const inbox = await inboxOf(bus, channel);
    const sent = range(0, 500).map(String);
    const messages = sent.map((payload) => on(channel, payload));
    await bus.publish(TOPIC, messages);
    assert.deepEqual(await inbox.until(500), sent);
  });

  it('events on many channels reach each of them, in order', async ({ bus }) => {
    const joined = Array.from({ length: MAX_CHANNELS }, freshChannel);
    const inboxes = await Promise.all(joined.map((channel) => inboxOf(bus, channel)));
    // Five megabytes for each listener.
    const payloads = range(0, 100).map((n) => `${n}${'x'.repeat(50_000)}`);
    await bus.publish(
      TOPIC,
      payloads.flatMap((payload) => joined.map((channel) => on(channel, payload))),
    );
    for (const inbox of inboxes) assert.deepEqual(await inbox.until(payloads.length), payloads);
  });

  it('a listener gets no message of another channel', async ({ bus }) => {
    const [mine, other] = [freshChannel(), freshChannel()];
    const inbox = await inboxOf(bus, mine);
    await bus.publish(TOPIC, [on(other, 'no'), on(mine, 'yes')]);
    assert.deepEqual(await inbox.until(1), ['yes']);
  });

  it('several listeners of a channel join it once, and each gets each message once', async (under) => {
    const channel = freshChannel();
    const inboxes = [new Inbox(), new Inbox(), new Inbox()];
    await Promise.all(inboxes.map((inbox) => under.bus.subscribe(TOPIC, channel, inbox.take).ready));
    await under.bus.publish(TOPIC, [on(channel, 'a'), on(channel, 'b')]);
    for (const inbox of inboxes) assert.deepEqual(await inbox.until(2), ['a', 'b']);
    if (under.joins !== undefined) assert.equal(await under.joins(channel), 1);
    assert.equal(await channels(under.metrics), 1);
  });

  it('a bus that is paused and resumed loses no message', async ({ bus, joins }) => {
    const channel = freshChannel();
    const inbox = await inboxOf(bus, channel);
    bus.pause();
    bus.pause();
    const sent = range(0, 500).map(String);
    const messages = sent.map((payload) => on(channel, payload));
    const published = bus.publish(TOPIC, messages);
    // A server has sent them all by then; within one process publishing waits.
    if (joins !== undefined) await published;
    for (let turns = 0; turns < 50; turns += 1) await nextTurn();
    assert.deepEqual(inbox.messages, []);
    bus.resume();
    await published;
    assert.deepEqual(await inbox.until(500), sent);
    bus.resume();
    await bus.publish(TOPIC, [on(channel, 'more')]);
    assert.deepEqual(await inbox.until(501), [...sent, 'more']);
  });

  it('a listener that has left gets no more messages, and the others do', async ({ bus }) => {
    const channel = freshChannel();
    const [stays, leaves] = [new Inbox(), new Inbox()];
    await bus.subscribe(TOPIC, channel, stays.take).ready;
    const leaving = bus.subscribe(TOPIC, channel, leaves.take);
    await leaving.ready;
    leaving.leave();
    leaving.leave();
    await bus.publish(TOPIC, [on(channel, 'a')]);
    assert.deepEqual(await stays.until(1), ['a']);
    assert.deepEqual(leaves.messages, []);
  });

  it('when a listener throws, the other listeners still get the message', async ({ bus }) => {
    const channel = freshChannel();
    const inbox = new Inbox();
    bus.subscribe(TOPIC, channel, () => {
      throw new Error('a listener failed on purpose');
    });
    await bus.subscribe(TOPIC, channel, inbox.take).ready;
    await bus.publish(TOPIC, [on(channel, 'a')]);
    assert.deepEqual(await inbox.until(1), ['a']);
  });

  it('channels that linger make room for new ones, the oldest first', async ({ bus, metrics }) => {
    const lingering = Array.from({ length: MAX_CHANNELS }, freshChannel);
    for (const channel of lingering) {
      const { ready, leave } = bus.subscribe(TOPIC, channel, () => undefined);
      await ready;
      assert.equal(bus.room, MAX_CHANNELS - 1);
      leave();
      await ready;
      assert.equal(bus.room, MAX_CHANNELS);
    }
    assert.equal(await channels(metrics), MAX_CHANNELS);
    const [oldest = '', second = '', ...others] = lingering;
    await bus.subscribe(TOPIC, oldest, () => undefined).ready; // It lingers no more.
    await bus.subscribe(TOPIC, freshChannel(), () => undefined).ready;
    assert.equal(bus.room, MAX_CHANNELS - 2);
    assert.equal(await channels(metrics), MAX_CHANNELS);
    const subscribed = await bus.subscribed(TOPIC, lingering);
    assert.equal(subscribed.has(second), false);
    assert.deepEqual([...subscribed], [oldest, ...others]);
  });

  it('channels that are being joined take room, with or without a listener', async ({ bus }) => {
    const leaving = Array.from({ length: MAX_CHANNELS - 1 }, () =>
      bus.subscribe(TOPIC, freshChannel(), () => undefined),
    );
    for (const { leave } of leaving) leave();
    assert.equal(bus.room, 1);
    for (const { ready } of leaving) await ready;
    assert.equal(bus.room, MAX_CHANNELS);
  });

  it('after the last listener has left, the bus stays on the channel for the linger time', async (under) => {
    const channel = freshChannel();
    const first = under.bus.subscribe(TOPIC, channel, () => undefined);
    await first.ready;
    first.leave();
    await first.ready;
    assert.equal(await channels(under.metrics), 1);
    const inbox = await inboxOf(under.bus, channel);
    await under.bus.publish(TOPIC, [on(channel, 'a')]);
    assert.deepEqual(await inbox.until(1), ['a']);
  });

  it('after the linger time the bus leaves the channel, even if the listener left before the join was acknowledged', async (under) => {
    const channel = freshChannel();
    const hasty = under.bus.subscribe(TOPIC, channel, () => undefined);
    hasty.leave();
    await eventually(async () => assert.equal(await channels(under.metrics), 0));
    if (under.joins !== undefined)
      await eventually(async () => assert.equal(await under.joins?.(channel), 0));
    const inbox = await inboxOf(under.bus, channel);
    await under.bus.publish(TOPIC, [on(channel, 'again')]);
    assert.deepEqual(await inbox.until(1), ['again']);
  }, 1);

  it('asked for subscribers, the bus names the channels that are joined, and no others', async ({ bus }) => {
    const [joined, other, left] = [freshChannel(), freshChannel(), freshChannel()];
    assert.deepEqual(await bus.subscribed(TOPIC, [joined, other]), new Set());
    const inbox = await inboxOf(bus, joined);
    const lingering = bus.subscribe(TOPIC, left, inbox.take);
    await lingering.ready;
    lingering.leave();
    // The bus leaves a channel only after the linger time: until then the pod counts as a subscriber.
    assert.deepEqual(await bus.subscribed(TOPIC, [other, left, joined]), new Set([left, joined]));
    assert.deepEqual(await bus.subscribed(TOPIC, [other]), new Set());
    assert.deepEqual(await bus.subscribed(TOPIC, []), new Set());
  });

  it('a channel that the bus has left has no subscriber any more', async ({ bus }) => {
    const channel = freshChannel();
    const subscription = bus.subscribe(TOPIC, channel, () => undefined);
    await subscription.ready;
    subscription.leave();
    await eventually(async () => assert.deepEqual(await bus.subscribed(TOPIC, [channel]), new Set()));
  }, 1);

  it('one call may ask for the subscribers of more channels than fit in one command', async ({ bus }) => {
    const many = Array.from({ length: 25_000 }, () => freshChannel());
    const joined = [many[3], many[10_000], many[24_999]].map((channel) => channel ?? '');
    await Promise.all(joined.map((channel) => bus.subscribe(TOPIC, channel, () => undefined).ready));
    assert.deepEqual([...(await bus.subscribed(TOPIC, many))], joined);
  });

  it('the id of a bus is that which was proposed first, unless it has none', async ({ bus }) => {
    const id = await bus.id(randomUUID());
    assert.equal(await bus.id(randomUUID()), id);
    assert.equal(await bus.id(), id);
  });

  it('publishing an empty batch succeeds', async ({ bus }) => {
    await bus.publish(TOPIC, []);
  });
}

/** Returns what comes on a channel that has been joined. */
async function inboxOf(bus: Bus, channel: string): Promise<Inbox> {
  const inbox = new Inbox();
  await bus.subscribe(TOPIC, channel, inbox.take).ready;
  return inbox;
}

const on = (channel: string, payload: string): Publication => ({ channel, payload });

async function channels(metrics: Metrics): Promise<number | undefined> {
  return (await metrics.channels.get()).values[0]?.value;
}
