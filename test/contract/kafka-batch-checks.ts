import assert from 'node:assert/strict';
import type { RecordBatch } from '../../src/ingest/kafka/driver.ts';
import { eventually } from '../helpers/eventually.ts';
import { join, range, type CheckFunction } from './kafka-checks.ts';
import type { TestMember } from './kafka-member.ts';

/** Batches: in order, committed, held and given up. */
export function batchChecks(it: CheckFunction): void {
  it('records come in order, and the next member goes on behind what is committed', async (under) => {
    const { broker, topic, groupId } = under;
    await broker.createTopic(topic, 2);
    const first = await join(under);
    for (const partition of [0, 1]) await broker.produce(topic, partition, range(0, 1_000));
    await first.until(() => first.committed >= 2_000);
    for (const partition of [0, 1]) assert.deepEqual(first.values(partition), range(0, 1_000));
    assert.deepEqual(
      first.records.filter(({ partition }) => partition === 0).map(({ offset }) => String(offset)),
      range(0, 1_000),
    );
    assert.deepEqual(await broker.committed(groupId, topic), [1_000, 1_000]);
    await first.member.stop();
    await broker.produce(topic, 0, range(1_000, 1_010));
    const second = await join(under);
    await second.until(() => second.records.length >= 10);
    assert.deepEqual(second.values(), range(1_000, 1_010));
    assert.ok(second.answers > 0);
  });

  it('what is not committed comes again, to the next member', async (under) => {
    const { broker, topic } = under;
    await broker.createTopic(topic, 1);
    const seen: string[] = [];
    const first = await join(
      under,
      async ({ records }) => void seen.push(...records.map(({ value }) => String(value))),
    );
    await broker.produce(topic, 0, range(0, 5));
    await first.until(() => seen.length >= 5);
    await first.member.stop();
    const second = await join(under);
    await second.until(() => second.records.length >= 5);
    assert.deepEqual(second.values(), range(0, 5));
  });

  it('a member knows its positions, and how far its partitions reach', async (under) => {
    const { broker, topic } = under;
    await broker.createTopic(topic, 1);
    await broker.produce(topic, 0, range(0, 3));
    const member = await join(under);
    assert.equal(member.member.positions()[0]?.position, 3);
    await broker.produce(topic, 0, range(3, 5));
    await member.until(() => member.member.positions()[0]?.highWatermark === 5);
    await member.until(() => member.committed === 2);
    const { topicId, epoch: leaderEpoch } = member.records.at(-1) ?? {};
    const log = { topic, partition: 0, topicId, resets: 0, partitions: 1 };
    assert.deepEqual(member.member.positions(), [{ ...log, leaderEpoch, position: 5, highWatermark: 5 }]);
  });

  it('a partition that is paused waits, and no other; resumed, it goes on where it was', async (under) => {
    const { broker, topic } = under;
    await broker.createTopic(topic, 2);
    const paused: (() => void)[] = [];
    const member: TestMember = await join(under, async (batch) => {
      if (batch.partition === 0 && paused.length === 0) paused.push(batch.pause());
      else await member.take(batch);
    });
    await broker.produce(topic, 0, range(0, 3));
    await member.until(() => paused.length === 1);
    await broker.produce(topic, 1, range(0, 3));
    await member.until(() => member.values(1).length === 3);
    assert.deepEqual(member.values(0), []);
    paused[0]?.();
    await member.until(() => member.values(0).length === 3);
    assert.deepEqual(member.values(0), range(0, 3));
  });

  it('a batch that is in hand while the group rebalances is given up, and comes again', async (under) => {
    const { broker, topic, groupId } = under;
    await broker.createTopic(topic, 2);
    let held: RecordBatch | undefined;
    const first: TestMember = await join(under, async (batch) => {
      if (held !== undefined) return first.take(batch);
      held = batch;
      assert.equal(batch.isAssigned(), true);
      throw await eventually(() =>
        batch.heartbeat().then(
          () => Promise.reject(new Error('expected the heartbeat to tell of the rebalance')),
          (rebalance: unknown) => rebalance as Error,
        ),
      );
    });
    for (const partition of [0, 1]) await broker.produce(topic, partition, range(0, 10));
    await first.until(() => held !== undefined);
    const second = await join(under);
    const values = () =>
      [...first.records, ...second.records].map(({ partition, value }) => `${partition}/${value}`);
    await first.until(() => first.committed + second.committed >= 20 && held?.isAssigned() === false);
    assert.equal(first.crash, undefined);
    assert.deepEqual([first.partitions, second.partitions], [1, 1]);
    assert.deepEqual(
      values().toSorted(),
      [0, 1].flatMap((partition) => range(0, 10).map((value) => `${partition}/${value}`)).toSorted(),
    );
    assert.deepEqual(await broker.committed(groupId, topic), [10, 10]);
  });
}
