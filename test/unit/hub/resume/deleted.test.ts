import assert from 'node:assert/strict';
import test from 'node:test';
import { deletionOf } from '../../../../src/events/deletion.ts';
import { upTo } from '../../../helpers/numbers.ts';
import { inTurns } from '../../turns.ts';
import { busWith, payloadOf, world, type LossyBus } from './world.ts';

const TOPIC = 'bids';

/** An event under a Kafka key, on the channel `a`. */
const put = (bus: LossyBus, n: number, key: string): Promise<void> =>
  bus.publish(TOPIC, [{ channel: 'bids:id=a', payload: payloadOf(n, {}, { key }) }]);

const deletionAt = (offset: number, key: string) =>
  deletionOf(key, { topicId: 'bids-1', partition: 0, offset });

const remove = (bus: LossyBus, n: number, key: string): Promise<void> =>
  bus.publish(TOPIC, [deletionAt(n, key)]);

test('a replay begins with the last events that are not deleted, however many came behind them', async (t) => {
  const { bus, client: make, publish } = world(t, { size: 400, keepsAll: true, binding: { replay: 2 } });
  await put(bus, 1, 'x');
  await put(bus, 2, 'y');
  await put(bus, 3, 'z');
  for (const n of upTo(303, 4)) await put(bus, n, `gone ${n % 7}`);
  for (const k of upTo(7, 0)) await remove(bus, 304 + k, `gone ${k}`);
  const client = make().connect();
  await inTurns(t, () => assert.deepEqual(client.heard, [2, 3]));
  await publish([400]);
  await inTurns(t, () => assert.deepEqual(client.heard, [2, 3, 400]));
  assert.deepEqual(client.greetings, [true]);
});

test('a replay has nothing of a deleted key though the channel is recorded, and its newer value', async (t) => {
  const { bus, client: make, publish } = world(t, { keepsAll: true, binding: { replay: 1 } });
  await put(bus, 1, 'x');
  const [before, between, after] = [make(), make(), make()];
  before.connect();
  await inTurns(t, () => assert.deepEqual(before.heard, [1]));
  await remove(bus, 2, 'x');
  between.connect();
  await inTurns(t, () => assert.deepEqual(between.greetings, [true]));
  await put(bus, 3, 'x');
  after.connect();
  await inTurns(t, () => assert.deepEqual(after.heard, [3]));
  await publish([4]);
  await inTurns(t, () => {
    assert.deepEqual(before.heard, [1, 3, 4]);
    for (const { heard } of [between, after]) assert.deepEqual(heard, [3, 4]);
  });
});

for (const [known, heard] of [
  ['a key', [4]],
  ['another key', [1, 4]],
] as const) {
  test(`a replay on a pod that has not heard of the deletion yet has nothing of the key afterwards either: ${known} of before`, async (t) => {
    const { bus, client: make } = world(t, { keepsAll: true, binding: { replay: 1 } });
    await put(bus, 1, known === 'a key' ? 'x' : 'y');
    const [early, late] = [make(), make()];
    early.connect();
    await inTurns(t, () => assert.deepEqual(early.heard, [1]));
    bus.deafen();
    await put(bus, 2, 'x');
    await remove(bus, 3, 'x');
    late.connect();
    await inTurns(t, () => assert.deepEqual(early.heard, [1, 2]));
    await put(bus, 4, 'z');
    await inTurns(t, () => assert.deepEqual([early.heard, late.heard], [[1, 2, 4], heard]));
  });
}

test('a slow client that began before a key came and was deleted gets it, though one that began later does not', async (t) => {
  const { bus, client: make, publish } = world(t, { keepsAll: true, binding: { replay: 1 } });
  await put(bus, 1, 'x');
  const [early, late] = [make(), make()];
  early.isBehind = true;
  early.connect();
  await inTurns(t, () => assert.deepEqual(early.heard, [1]));
  await put(bus, 2, 'y');
  await remove(bus, 3, 'y');
  late.isBehind = true;
  late.connect();
  await inTurns(t, () => assert.deepEqual(late.heard, [1]));
  early.isBehind = false;
  late.isBehind = false;
  await publish([4]);
  await inTurns(t, () => assert.deepEqual([early.heard.at(-1), late.heard.at(-1)], [4, 4]));
  assert.deepEqual(early.heard, [1, 2, 4]);
  assert.deepEqual(late.heard, [1, 4]);
});

test('a client that resumes gets what it has missed, deleted or not', async (t) => {
  const { bus, client: make } = world(t, { keepsAll: true, binding: { replay: 1 } });
  const client = make().connect();
  await inTurns(t, () => assert.deepEqual(client.greetings, [true]));
  await put(bus, 1, 'x');
  client.disconnect();
  await put(bus, 2, 'x');
  await remove(bus, 3, 'x');
  client.connect();
  await inTurns(t, () => assert.deepEqual(client.heard, [1, 2]));
  assert.deepEqual(client.greetings, [true, true]);
});

test('a client whose replay had only deleted events does not get them by its cursor either', async (t) => {
  const { bus, client: make } = world(t, { keepsAll: true, binding: { replay: 1 } });
  await put(bus, 1, 'x');
  await remove(bus, 2, 'x');
  const client = make().connect();
  await inTurns(t, () => assert.deepEqual(client.greetings, [true]));
  client.disconnect();
  await put(bus, 3, 'y');
  client.connect();
  await inTurns(t, () => assert.deepEqual(client.heard, [3]));
});

test('events that are older than the deletions that are still known are left out of replays, which is told', async (t) => {
  const { bus, client: make } = world(t, { keepsAll: true, binding: { replay: 1 } });
  await put(bus, 1, 'x');
  await bus.publish(
    TOPIC,
    upTo(70_000, 2).map((n) => deletionAt(n, `key ${n}`)),
  );
  const client = make().connect();
  await inTurns(t, () => assert.deepEqual(client.heard, [undefined]));
  await put(bus, 70_001, 'x');
  const next = make().connect();
  await inTurns(t, () => assert.deepEqual([next.heard, next.greetings], [[70_001], [true]]));
});

test('keys that are deleted again and again take no more than others', async () => {
  const bus = busWith(10, true);
  await put(bus, 1, 'x');
  for (const n of upTo(100_000, 2)) await remove(bus, n, 'y');
  const { epoch } = bus.position(TOPIC) ?? assert.fail();
  const { forgottenUpTo, upTo: deleted } = await bus.deletions(TOPIC, epoch, ['x', 'y']);
  assert.deepEqual([forgottenUpTo, [...deleted.keys()]], [0, ['y']]);
});
