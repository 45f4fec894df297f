import assert from 'node:assert/strict';
import type { TestOptions } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import { DELETED_OF_GENERATION, deletionOf } from '../../src/events/deletion.ts';
import type { Publication } from '../../src/events/publisher.ts';
import { upTo } from '../helpers/numbers.ts';
import { ALL, event, namedTest, numberIn, TOPIC, type MakeBus } from './history.ts';

const CHANNEL = 'history:a';

const tombstone = (n: number, key: string): Publication =>
  deletionOf(key, { topicId: undefined, partition: 0, offset: n });

const sequenceIn = (text: string): number => (JSON.parse(text) as { h: [string, number] }).h[1];

/** Numbers of the events that each key's deletion is behind. */
async function deletedIn(bus: Bus, ...keys: readonly string[]): Promise<readonly (readonly number[])[]> {
  const { position, channels } = await bus.readHistory(TOPIC, [CHANNEL], 0, ALL);
  const { upTo: deleted } = await bus.deletions(TOPIC, position.epoch, keys);
  const messages = channels[0]?.messages.map(String) ?? [];
  return keys.map((key) =>
    messages.filter((one) => sequenceIn(one) <= (deleted.get(key) ?? 0)).map(numberIn),
  );
}

/** Keys of one command, so that none takes as long as a bus waits for a reply. */
const AT_ONCE = 4_096;

/** What every bus must do with keys that are deleted. */
export function testDeletions(name: string, options: TestOptions, make: MakeBus): void {
  const it = namedTest(name, options, async (t, ttlMs) => {
    const bus = await make(t, ttlMs);
    await bus.subscribe(TOPIC, CHANNEL, () => undefined).ready;
    return bus;
  });

  it('a deletion is behind what was published before it, and before what came later in the same batch', async (bus) => {
    await bus.publish(TOPIC, [...event(1, CHANNEL), tombstone(2, 'x'), ...event(3, CHANNEL)]);
    await bus.publish(TOPIC, event(4, CHANNEL));
    assert.deepEqual(await deletedIn(bus, 'x', 'y'), [[1], []]);
    await bus.publish(TOPIC, [tombstone(5, 'x'), tombstone(6, 'x'), tombstone(7, 'y'), ...event(8, CHANNEL)]);
    assert.deepEqual(await deletedIn(bus, 'x', 'y'), [
      [1, 3, 4],
      [1, 3, 4],
    ]);
  });

  it('a read leaves out nothing that is deleted, and positions go on', async (bus) => {
    await bus.publish(TOPIC, event(1, CHANNEL));
    const before = (await bus.readHistory(TOPIC, [CHANNEL], 0, ALL)).position;
    await bus.publish(TOPIC, [tombstone(2, 'x')]);
    await bus.publish(TOPIC, event(3, CHANNEL));
    const { position, channels } = await bus.readHistory(TOPIC, [CHANNEL], 0, ALL);
    assert.deepEqual([position.epoch, position.sequence > before.sequence], [before.epoch, true]);
    assert.deepEqual(channels[0]?.messages.map(numberIn), [1, 3]);
  });

  it('a tombstone that is published again deletes nothing that came behind it', async (bus) => {
    await bus.publish(TOPIC, [...event(1, CHANNEL), tombstone(2, 'x'), ...event(3, CHANNEL)]);
    await bus.publish(TOPIC, [tombstone(2, 'x')]);
    assert.deepEqual(await deletedIn(bus, 'x'), [[1]]);
  });

  it('deletions of an epoch that has ended can not be had', async (bus) => {
    await bus.publish(TOPIC, [tombstone(1, 'x')]);
    await assert.rejects(bus.deletions(TOPIC, 'another', ['x']), { name: 'NoHistory' });
    await assert.rejects(bus.deletions('other', 'another', ['x']), { name: 'NoHistory' });
  });

  it('of more keys than can be noted those are forgotten that were deleted first, and it is told up to where', async (bus) => {
    const { epoch } = (await bus.readHistory(TOPIC, [CHANNEL], 0, ALL)).position;
    let deleted = 0;
    const deleteUpTo = async (last: number): Promise<void> => {
      while (deleted < last) {
        const count = Math.min(AT_ONCE, last - deleted);
        await bus.publish(
          TOPIC,
          upTo(deleted + count, deleted + 1).map((n) => tombstone(n, `key ${n}`)),
        );
        deleted += count;
      }
    };
    await deleteUpTo(2 * DELETED_OF_GENERATION);
    const whole = await bus.deletions(TOPIC, epoch, ['key 1', `key ${deleted}`]);
    assert.deepEqual([whole.upTo.size, whole.forgottenUpTo], [2, 0]);
    assert.equal(whole.last, whole.upTo.get(`key ${deleted}`));
    await deleteUpTo(2 * DELETED_OF_GENERATION + 1);
    const known = new Map<string, number>();
    let forgottenUpTo = 0;
    for (let asked = 0; asked < deleted; asked += AT_ONCE) {
      const keys = upTo(Math.min(asked + AT_ONCE, deleted), asked + 1).map((n) => `key ${n}`);
      const part = await bus.deletions(TOPIC, epoch, keys);
      for (const [key, sequence] of part.upTo) known.set(key, sequence);
      ({ forgottenUpTo } = part);
    }
    assert.ok(known.size > DELETED_OF_GENERATION && known.size < deleted);
    const [first = Infinity] = known.values();
    assert.ok(
      first <= forgottenUpTo + 1,
      `the first of those that are known is ${first}, forgotten are those up to ${forgottenUpTo}`,
    );
    assert.deepEqual([known.has('key 1'), known.has(`key ${deleted}`)], [false, true]);
  });

  it('many keys are asked for at once, among those that were deleted', async (bus) => {
    const keys = upTo(1_200).map((n) => `key ${n}`);
    await bus.publish(TOPIC, event(1, CHANNEL));
    await bus.publish(
      TOPIC,
      keys.slice(0, 600).map((key, index) => tombstone(index + 2, key)),
    );
    const deleted = await deletedIn(bus, ...keys);
    assert.equal(deleted.filter((numbers) => numbers.length === 1).length, 600);
  });
}
