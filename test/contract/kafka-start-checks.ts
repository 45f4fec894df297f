import assert from 'node:assert/strict';
import { logEpoch } from '../../src/events/log-position.ts';
import { readPositionText } from '../../src/ingest/kafka/position-text.ts';
import { join, range, type CheckFunction } from './kafka-checks.ts';
import { TestMember } from './kafka-member.ts';

const matchedBy = (patterns: string, isBegun: boolean) => () => ({ patterns, isBegun });

/** Where partitions start. */
export function startChecks(it: CheckFunction): void {
  it('a new group starts at the end of a log, and two members that start together replay nothing', async (under) => {
    const { broker, topic, groupId } = under;
    await broker.createTopic(topic, 4);
    for (const partition of [0, 1, 2, 3]) await broker.produce(topic, partition, range(0, 5));
    const members = await Promise.all([join(under), join(under)]);
    await members[0].until(() => members.every(({ partitions }) => partitions === 2));
    for (const partition of [0, 1, 2, 3]) await broker.produce(topic, partition, ['new']);
    const values = () => members.flatMap((member) => member.values());
    await members[0].until(() => members.every(({ committed }) => committed === 2));
    assert.deepEqual(values(), ['new', 'new', 'new', 'new']);
    assert.deepEqual(await broker.committed(groupId, topic), [6, 6, 6, 6]);
  });

  it('a topic that is new among those of a pattern is consumed from its beginning, then from its position, which names the pattern', async (under) => {
    const { broker, topic, groupId, driver, t } = under;
    await broker.createTopic(topic, 2);
    for (const partition of [0, 1]) await broker.produce(topic, partition, range(0, 5));
    const options = { groupId, topics: [topic], matched: matchedBy('x,y', true) };
    const member = new TestMember(driver, options);
    await member.start(t);
    await member.until(() => member.committed === 10);
    const { texts } = await driver.describeGroup(groupId, [topic]);
    assert.deepEqual(
      texts.map((text) => readPositionText(text)?.patterns),
      ['x,y', 'x,y'],
    );
    await member.member.stop();
    await broker.produce(topic, 0, ['new']);
    const next = new TestMember(driver, options);
    await next.start(t);
    await next.until(() => next.committed > 0);
    assert.deepEqual(next.values(), ['new']);
  });

  it('a position of a topic that is matched from now on is committed again as it is, with the pattern', async (under) => {
    const { broker, topic, groupId, driver, t } = under;
    await broker.createTopic(topic, 1);
    await broker.produce(topic, 0, range(0, 5));
    const named = await join(under);
    await named.member.stop();
    const member = new TestMember(driver, {
      groupId,
      topics: [topic],
      matched: matchedBy('x', false),
    });
    await member.start(t);
    const { texts } = await driver.describeGroup(groupId, [topic]);
    assert.deepEqual(
      [texts.map((text) => readPositionText(text)?.patterns), await broker.committed(groupId, topic)],
      [['x'], [5]],
    );
  });

  it('partitions that are added are consumed from their beginning', async (under) => {
    const { broker, topic } = under;
    await broker.createTopic(topic, 1);
    await broker.produce(topic, 0, ['old']);
    const member = await join(under);
    await broker.addPartitions(topic, 3);
    for (const partition of [1, 2]) await broker.produce(topic, partition, range(0, 20));
    await member.until(() => member.records.length >= 40);
    for (const partition of [1, 2]) assert.deepEqual(member.values(partition), range(0, 20));
    assert.deepEqual(member.values(0), []);
  });

  it('partitions that are added while the group has no member are consumed from their beginning', async (under) => {
    const { broker, topic } = under;
    await broker.createTopic(topic, 1);
    const first = await join(under);
    await first.member.stop();
    await broker.addPartitions(topic, 3);
    for (const partition of [0, 1, 2]) await broker.produce(topic, partition, range(0, 10));
    const member = await join(under);
    await member.until(() => member.records.length >= 30);
    for (const partition of [0, 1, 2]) assert.deepEqual(member.values(partition), range(0, 10));
  });

  it('a topic that is made anew is consumed from its beginning, under its own id', async (under) => {
    const { broker, topic } = under;
    await broker.createTopic(topic, 1);
    const member = await join(under);
    await broker.produce(topic, 0, range(0, 5));
    await member.until(() => member.records.length >= 5);
    await broker.deleteTopic(topic);
    await broker.createTopic(topic, 1);
    // More than the former one held, so that its position is in the log of the new one.
    await broker.produce(topic, 0, range(100, 120));
    const next = new TestMember(under.driver, { groupId: under.groupId, topics: [topic] });
    await member.until(() => member.records.length >= 25 || member.crash !== undefined);
    // A member may crash in between, while there is no such topic.
    if (member.crash !== undefined) {
      await member.member.stop();
      await next.start(under.t);
      await next.until(() => member.records.length + next.records.length >= 25);
    }
    const all = [...member.records, ...next.records];
    assert.deepEqual(
      all.map(({ value }) => String(value)),
      [...range(0, 5), ...range(100, 120)],
    );
    const ids = all.map(({ topicId }) => topicId);
    assert.deepEqual(
      [new Set(ids.slice(0, 5)).size, new Set(ids.slice(5)).size, new Set(ids).size],
      [1, 1, 2],
    );
  });

  it('a position beyond the end of the log is moved to its end, of which records tell from then on, on all members', async (under) => {
    const { broker, topic, groupId, driver } = under;
    await broker.createTopic(topic, 1);
    await broker.produce(topic, 0, range(0, 5));
    await broker.setCommitted(groupId, topic, 0, 100);
    const member = await join(under);
    await member.until(() => member.resets.length > 0);
    assert.deepEqual(member.resets, [{ topic, partition: 0, position: 100, to: 'end', offset: 5 }]);
    await broker.produce(topic, 0, ['new']);
    await member.until(() => member.committed > 0);
    assert.deepEqual(member.values(), ['new']);
    await member.member.stop();
    const next = await join(under);
    await broker.produce(topic, 0, ['newer']);
    await next.until(() => next.committed > 0);
    assert.deepEqual(next.values(), ['newer']);
    assert.deepEqual(next.resets, []);
    const epochs = [...member.records, ...next.records].map(({ epoch }) => epoch);
    assert.deepEqual(epochs, [logEpoch(0, 1), logEpoch(0, 1)]);
    const { texts } = await driver.describeGroup(groupId, [topic]);
    assert.deepEqual(
      texts.map((text) => readPositionText(text)?.resets),
      [1],
    );
  });

  it(
    'a position that retention has deleted is moved to the beginning of what is left',
    async (under) => {
      const { broker, topic, groupId } = under;
      await broker.createTopic(topic, 1);
      await broker.produce(topic, 0, range(0, 5));
      await broker.setCommitted(groupId, topic, 0, 1);
      await broker.deleteRecords(topic, 0, 3);
      const member = await join(under);
      await member.until(() => member.records.length >= 2);
      assert.deepEqual(member.values(), ['3', '4']);
      assert.deepEqual(member.resets, [{ topic, partition: 0, position: 1, to: 'beginning', offset: 3 }]);
      // No offset was given again.
      assert.deepEqual(
        member.records.map(({ epoch }) => epoch),
        [0, 0],
      );
    },
    'retention',
  );
}
