import assert from 'node:assert/strict';
import type { TestContext, TestOptions } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import { positionOf } from '../../src/bus/history.ts';
import type { HistorySettings } from '../../src/events/history-settings.ts';
import { eventually } from '../helpers/eventually.ts';
import { Inbox } from '../helpers/inbox.ts';
import { testDeletions } from './deletions.ts';
import {
  ALL,
  event,
  LONG_MS,
  namedTest,
  numberIn,
  SIZE,
  testHistory,
  testKeepingAll,
  TOPIC,
  type MakeBus,
} from './history.ts';

const [KEPT, OTHER] = ['history:a', 'history:b'];
const SETTINGS = { size: SIZE, ttlMs: LONG_MS, keepsAll: false };

type Histories = ReadonlyMap<string, HistorySettings>;

/**
 * All that a bus must do which keeps history, of some channels or of all, and whose topics are replaced.
 *
 * @param start a bus that has been reached
 * @param endsMs for how long a channel is kept in tests that wait for its end
 */
export function testHistories(
  name: string,
  options: TestOptions,
  start: (t: TestContext, histories: Histories) => Promise<Bus>,
  endsMs?: number,
): void {
  const make =
    (keepsAll: boolean): MakeBus =>
    (t, ttlMs) =>
      start(t, new Map([[TOPIC, { size: SIZE, ttlMs, keepsAll }]]));
  testHistory(name, options, make(false), endsMs);
  testKeepingAll(name, options, make(true), endsMs);
  testReplacedHistories(name, options, make(false));
  testDeletions(name, options, make(false));
}

function testReplacedHistories(name: string, options: TestOptions, make: MakeBus): void {
  const it = namedTest(name, options, make);

  it('a topic loses its history and gets one again, and those who listen hear every message once', async (bus) => {
    const inbox = new Inbox();
    await bus.subscribe(TOPIC, KEPT, inbox.take).ready;
    await bus.publish(TOPIC, event(1, KEPT));
    assert.ok(positionOf((await inbox.until(1))[0] ?? ''));

    bus.keep(new Map());
    assert.equal(bus.position(TOPIC), undefined);
    await assert.rejects(bus.readHistory(TOPIC, [KEPT], 0, ALL), /the topic has none/);
    await bus.publish(TOPIC, event(2, KEPT));
    assert.equal(positionOf((await inbox.until(2))[1] ?? ''), undefined);

    bus.keep(new Map([[TOPIC, SETTINGS]]));
    const other = new Inbox();
    await bus.subscribe(TOPIC, OTHER, other.take).ready;
    // Known once the channels are kept that were subscribed to before.
    await eventually(() => assert.notEqual(bus.position(TOPIC), undefined));
    await eventually(async () => {
      const { channels } = await bus.readHistory(TOPIC, [KEPT], 0, ALL);
      assert.equal(channels[0]?.messages.length, 0);
    });
    await bus.publish(TOPIC, [...event(3, KEPT), ...event(4, OTHER)]);
    assert.deepEqual((await inbox.until(3)).map(numberIn), [1, 2, 3]);
    const { position, channels } = await bus.readHistory(TOPIC, [KEPT, OTHER], 0, ALL);
    assert.deepEqual(
      channels.map(({ messages }) => messages.map(numberIn)),
      [[3], [4]],
    );
    assert.deepEqual(bus.position(TOPIC), position);
    assert.deepEqual(other.messages.map(numberIn), [4]);
  });

  it('another size of a history takes effect, and what is kept stays', async (bus) => {
    await bus.subscribe(TOPIC, KEPT, () => undefined).ready;
    await bus.publish(TOPIC, event(1, KEPT));
    const { epoch } = (await bus.readHistory(TOPIC, [KEPT], 0, ALL)).position;
    bus.keep(new Map([[TOPIC, { ...SETTINGS, size: 2 * SIZE }]]));
    for (let n = 2; n <= 2 * SIZE; n += 1) await bus.publish(TOPIC, event(n, KEPT));
    const { position, channels } = await bus.readHistory(TOPIC, [KEPT], 0, ALL);
    assert.equal(position.epoch, epoch);
    assert.equal(channels[0]?.messages.length, 2 * SIZE);
  });
}
