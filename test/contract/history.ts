import assert from 'node:assert/strict';
import test, { type TestContext, type TestOptions } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import type { Bus } from '../../src/bus/bus.ts';
import { bytesOf, positionOf, type HistoryBounds, type HistoryRead } from '../../src/bus/history.ts';
import type { Publication } from '../../src/events/publisher.ts';
import { eventually } from '../helpers/eventually.ts';
import { Inbox } from '../helpers/inbox.ts';
import { upTo } from '../helpers/numbers.ts';

/** A topic with history of `SIZE` messages a channel. */
export const TOPIC = 'kept';
export const SIZE = 20;

/** For so long a channel is kept in tests that wait for its end. */
const TTL_MS = 1_000;

/** More than any test keeps. */
export const ALL: HistoryBounds = { maxBytes: 64 * 1024 * 1024 };

/** Outlasts a test. */
export const LONG_MS = 600_000;

const CHANNELS = ['history:a', 'history:b'] as const;

/** Gives a bus that is started, has been reached, and keeps `TOPIC` for so long. */
export type MakeBus = (t: TestContext, ttlMs: number) => Promise<Bus>;

/** Registers tests of a bus, which it makes for each. */
export const namedTest =
  (name: string, options: TestOptions, make: MakeBus) =>
  (title: string, run: (bus: Bus) => Promise<void>, ttlMs = LONG_MS): void => {
    test(`${name}: ${title}`, options, async (t) => run(await make(t, ttlMs)));
  };

/** The messages of one event. */
export function event(n: number, ...channels: string[]): Publication[] {
  const source = { topicId: undefined, partition: 0, offset: n };
  const payload = JSON.stringify({ v: 1, o: n });
  return channels.map((channel) => ({ channel, payload, source }));
}

export const numberIn = (payload: Buffer | string): number =>
  (JSON.parse(payload.toString()) as { o: number }).o;

/** Publishes events, of such a length each, on a channel of their own. */
export async function keepLong(
  bus: Bus,
  lengths: Readonly<Record<string, number>>,
  count: number,
): Promise<void> {
  await Promise.all(Object.keys(lengths).map((name) => bus.subscribe(TOPIC, name, () => undefined).ready));
  for (const n of upTo(count)) {
    for (const [channel, length] of Object.entries(lengths)) {
      await bus.publish(
        TOPIC,
        event(n, channel).map((one) => longer(one, length)),
      );
    }
  }
}

const longer = ({ channel, payload }: Publication, length: number): Publication => ({
  channel,
  payload: JSON.stringify({ ...(JSON.parse(payload) as object), text: 'x'.repeat(length) }),
});

const bytesIn = ({ channels }: HistoryRead): number =>
  channels.flatMap(({ messages }) => messages).reduce((sum, message) => sum + bytesOf(message), 0);

/** More of a time in which the machine stood still does not count: a simulated Redis leaves it out. */
const STEP_MS = 50;

/** Lets time pass in which a channel ends that is not renewed, while another one goes on. */
async function outlast(bus: Bus, ttlMs: number, other: string): Promise<void> {
  let last = performance.now();
  for (let [passed, n] = [0, 1_000]; ; n += 1) {
    await bus.publish(TOPIC, event(n, other));
    if (passed >= 2 * ttlMs) return;
    await passes(10);
    passed += Math.min(STEP_MS, performance.now() - last);
    last = performance.now();
  }
}

/**
 * What every bus must do that keeps all channels of the topic.
 *
 * @param ttlMs for how long a channel is kept in tests that wait for its end
 */
export function testKeepingAll(name: string, options: TestOptions, make: MakeBus, ttlMs = TTL_MS): void {
  const it = namedTest(name, options, make);
  const [a, b] = CHANNELS;

  it('all channels are kept, before any pod has subscribed to them', async (bus) => {
    assert.deepEqual(await bus.subscribed(TOPIC, [a, b]), new Set([a, b]));
    for (const n of upTo(2 * SIZE)) await bus.publish(TOPIC, [...event(2 * n, a), ...event(2 * n + 1, b)]);
    await bus.subscribe(TOPIC, a, () => undefined).ready;
    const { position, channels } = await bus.readHistory(TOPIC, [a], 0, ALL);
    const numbers = channels[0]?.messages.map(numberIn) ?? [];
    assert.ok(numbers.length >= SIZE && numbers.length <= 1.25 * SIZE, `${numbers.length}`);
    const last = upTo(2 * SIZE, 2 * SIZE - numbers.length + 1);
    assert.deepEqual(
      numbers,
      last.map((n) => 2 * n),
    );
    assert.deepEqual(bus.position(TOPIC), position);
  });

  it(
    'a channel that no pod subscribes to is kept for a time after its last message',
    async (bus) => {
      await bus.publish(TOPIC, event(1, a));
      await outlast(bus, ttlMs, b);
      await Promise.all([a, b].map((channel) => bus.subscribe(TOPIC, channel, () => undefined).ready));
      const { channels } = await bus.readHistory(TOPIC, [a, b], 0, ALL);
      assert.deepEqual(channels[0]?.messages, []);
      assert.deepEqual(channels[0]?.from, channels[1]?.messages.map(positionOf).at(-1)?.sequence);
      assert.notEqual(channels[1]?.messages.length, 0);
    },
    ttlMs,
  );
}

/**
 * What every bus must do that keeps history.
 *
 * @param endsMs for how long a channel is kept in tests that wait for its end
 */
export function testHistory(name: string, options: TestOptions, make: MakeBus, endsMs = TTL_MS): void {
  const it = namedTest(name, options, make);
  const [a, b] = CHANNELS;

  it('what was published since a channel was joined can be read, in order', async (bus) => {
    const inbox = new Inbox();
    await bus.subscribe(TOPIC, a, inbox.take).ready;
    const begin = bus.position(TOPIC);
    await bus.publish(
      TOPIC,
      upTo(5).flatMap((n) => event(n, a)),
    );
    const heard = await inbox.until(5);
    const { position, channels } = await bus.readHistory(TOPIC, [a], 0, ALL);
    assert.deepEqual(channels[0]?.messages.map(String), heard);
    assert.deepEqual(heard.map(numberIn), upTo(5));
    assert.deepEqual(begin, { epoch: position.epoch, sequence: channels[0]?.from });
    assert.deepEqual(positionOf(heard.at(-1) ?? ''), position);
    assert.deepEqual(bus.position(TOPIC), position);
  });

  it('an event has one position on all of its channels, and each event a higher one', async (bus) => {
    const inboxes = [new Inbox(), new Inbox()] as const;
    await Promise.all([
      bus.subscribe(TOPIC, a, inboxes[0].take).ready,
      bus.subscribe(TOPIC, b, inboxes[1].take).ready,
    ]);
    await bus.publish(TOPIC, [...event(1, a, b), ...event(2, b), ...event(3, a, b)]);
    const first = (await inboxes[0].until(2)).map(positionOf);
    const second = (await inboxes[1].until(3)).map(positionOf);
    assert.deepEqual(first, [second[0], second[2]]);
    const sequences = second.map((position) => position?.sequence ?? 0);
    assert.deepEqual(sequences, upTo((sequences[0] ?? 0) + 2, sequences[0]));
  });

  it('a channel is kept up to its size, and what is kept is complete from where it says', async (bus) => {
    await bus.subscribe(TOPIC, a, () => undefined).ready;
    for (const n of upTo(3 * SIZE)) await bus.publish(TOPIC, event(n, a));
    const [kept] = (await bus.readHistory(TOPIC, [a], 0, ALL)).channels;
    const messages = kept?.messages.map(String) ?? [];
    assert.ok(messages.length >= SIZE && messages.length <= 1.25 * SIZE, `${messages.length}`);
    assert.deepEqual(messages.map(numberIn), upTo(3 * SIZE, 3 * SIZE - messages.length + 1));
    assert.equal(kept?.from, (positionOf(messages[0] ?? '')?.sequence ?? 0) - 1);
  });

  it('a channel is kept after the last listener has left', async (bus) => {
    const subscription = bus.subscribe(TOPIC, a, () => undefined);
    await subscription.ready;
    assert.deepEqual(await bus.subscribed(TOPIC, [a, b]), new Set([a]));
    subscription.leave();
    // The bus has left the channel before it has joined another one.
    await bus.subscribe(TOPIC, b, () => undefined).ready;
    for (const n of upTo(SIZE)) await bus.publish(TOPIC, event(n, a));
    assert.deepEqual(await bus.subscribed(TOPIC, [a]), new Set([a]));
    const { channels } = await bus.readHistory(TOPIC, [a], 0, ALL);
    assert.deepEqual(channels[0]?.messages.map(numberIn), upTo(SIZE));
  });

  it(
    'what was passed over since a channel is kept no longer is behind no position of before',
    async (bus) => {
      const subscription = bus.subscribe(TOPIC, a, () => undefined);
      await subscription.ready;
      await bus.publish(TOPIC, event(1, a));
      const before = (await bus.readHistory(TOPIC, [a], 0, ALL)).position;
      subscription.leave();
      await eventually(async () => assert.deepEqual(await bus.subscribed(TOPIC, [a]), new Set()));
      await bus.subscribe(TOPIC, a, () => undefined).ready;
      const { position, channels } = await bus.readHistory(TOPIC, [a], 0, ALL);
      assert.equal(position.epoch, before.epoch);
      assert.ok((channels[0]?.from ?? 0) > before.sequence, `${channels[0]?.from} behind ${before.sequence}`);
    },
    endsMs,
  );

  it(
    'a channel is kept for as long as it has a listener',
    async (bus) => {
      await bus.subscribe(TOPIC, a, () => undefined).ready;
      let n = 0;
      do await bus.publish(TOPIC, event((n += 1), a));
      while (!(await passSteadily(bus, 2 * endsMs)));
      const { channels } = await bus.readHistory(TOPIC, [a], 0, ALL);
      assert.equal(channels[0]?.messages.map(numberIn).at(-1), n);
    },
    endsMs,
  );

  /** @returns false if this process or Redis stood still for so long that a channel may have been renewed too late */
  async function passSteadily(bus: Bus, ms: number): Promise<boolean> {
    let last = performance.now();
    let longest = 0;
    const until = last + ms;
    await eventually(async () => {
      await bus.subscribed(TOPIC, [a]);
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      assert.ok(last > until, `${until - last} ms are left`);
    });
    return longest < ms / 4;
  }

  it('of each channel only the last messages are read, where no more are wanted', async (bus) => {
    await keepLong(bus, { [a]: 10, [b]: 10 }, SIZE);
    await bus.subscribe(TOPIC, 'history:one', () => undefined).ready;
    await bus.publish(TOPIC, event(1, 'history:one'));
    const { channels, isCut } = await bus.readHistory(TOPIC, [a, 'history:one', b], 0, { ...ALL, last: 2 });
    assert.deepEqual(
      channels.map(({ messages, isAll }) => [messages.map(numberIn), isAll]),
      [
        [[SIZE - 1, SIZE], false],
        [[1], true],
        [[SIZE - 1, SIZE], false],
      ],
    );
    assert.equal(isCut, false);
  });

  it('no more is read than fits, the last messages first, and what is left out is behind none of it', async (bus) => {
    await keepLong(bus, { [a]: 1_000, [b]: 50_000, 'history:c': 10 }, SIZE);
    const names = [a, b, 'history:c'];
    const all = await bus.readHistory(TOPIC, names, 0, ALL);
    const total = bytesIn(all);
    assert.deepEqual([all.isCut, all.channels.map(({ isAll }) => isAll)], [false, [true, true, true]]);
    for (const maxBytes of [0, 1_000, 30_000, 300_000, total - 1]) {
      const read = await bus.readHistory(TOPIC, names, 0, { maxBytes });
      assert.ok(bytesIn(read) <= maxBytes, `${bytesIn(read)} of ${maxBytes}`);
      assert.equal(read.isCut, true);
      for (const [index, { channel, from, isAll, messages }] of read.channels.entries()) {
        const kept = all.channels[index]?.messages.map(String) ?? [];
        assert.equal(channel, names[index]);
        assert.deepEqual(messages.map(String), kept.slice(kept.length - messages.length));
        const left = kept
          .slice(0, kept.length - messages.length)
          .map((one) => positionOf(one)?.sequence ?? 0);
        assert.equal(isAll, left.length === 0);
        assert.ok(
          left.every((sequence) => sequence <= from),
          `${left.at(-1)} is not behind ${from}`,
        );
      }
    }
    assert.deepEqual(await bus.readHistory(TOPIC, names, 0, { maxBytes: total }), all);
  });

  it('what is needed fits, however much is kept before it', async (bus) => {
    await keepLong(bus, { [a]: 20_000 }, SIZE);
    const { position } = await bus.readHistory(TOPIC, [a], 0, ALL);
    await bus.publish(TOPIC, event(SIZE + 1, a));
    const { channels, isCut } = await bus.readHistory(TOPIC, [a], position.sequence, { maxBytes: 1_000 });
    assert.deepEqual([channels[0]?.messages.map(numberIn), isCut], [[SIZE + 1], false]);
  });

  it('a topic without history has no positions, and can not be read', async (bus) => {
    const inbox = new Inbox();
    await bus.subscribe('other', a, inbox.take).ready;
    await bus.publish('other', event(1, a));
    assert.deepEqual(
      await inbox.until(1),
      event(1, a).map(({ payload }) => payload),
    );
    assert.equal(bus.position('other'), undefined);
    await assert.rejects(bus.readHistory('other', [a], 0, ALL), { name: 'NoHistory' });
  });
}
