import assert from 'node:assert/strict';
import { join, range, type CheckFunction } from './kafka-checks.ts';
import { TestMember } from './kafka-member.ts';

/** Members come and go; topics are missing; groups are forgotten. */
export function groupChecks(it: CheckFunction): void {
  it('a stop during the join leaves the group, and nothing is handed over afterwards', async (under) => {
    const { driver, broker, topic, groupId, t } = under;
    await broker.createTopic(topic, 1);
    const stopped = new TestMember(driver, { groupId, topics: [topic] });
    void stopped.member.run().catch(() => undefined);
    await stopped.until(() => stopped.answers > 0);
    await stopped.member.stop();
    // The group takes in another at once, and gives it everything.
    const next = await new TestMember(driver, { groupId, topics: [topic] }).start(t);
    await broker.produce(topic, 0, ['a']);
    await next.until(() => next.records.length === 1);
    assert.deepEqual([next.partitions, stopped.records.length], [1, 0]);
  });

  it('members that begin at once share the partitions out, and none crashes', async (under) => {
    const { driver, broker, topic, groupId, t } = under;
    await broker.createTopic(topic, 6);
    const created = range(0, 6).map(() => new TestMember(driver, { groupId, topics: [topic] }));
    const members = await Promise.all(created.map((member) => member.start(t)));
    for (const member of members)
      await member.until(() => members.every(({ partitions }) => partitions === 1));
    assert.deepEqual(
      members.filter(({ crash }) => crash !== undefined),
      [],
    );
    for (const partition of members.keys()) await broker.produce(topic, partition, ['a']);
    await Promise.all(members.map((member) => member.until(() => member.records.length === 1)));
  });

  it('an error of the application crashes the member, and is not worth another attempt', async (under) => {
    const { driver, broker, topic } = under;
    await broker.createTopic(topic, 1);
    const member = await join(under, () => Promise.reject(new TypeError('a fault')));
    await broker.produce(topic, 0, ['a']);
    await member.until(() => member.crash !== undefined);
    assert.match(member.crash?.message ?? '', /a fault/);
    assert.equal(driver.isRetriable(member.crash), false);
  });

  it('topics that are missing are named', async ({ driver, broker, topic }) => {
    await broker.createTopic(topic, 1);
    assert.deepEqual(await driver.missingTopics([topic, `${topic}-2`]), [`${topic}-2`]);
  });

  it('a group is forgotten, with its positions, once it has no members', async (under) => {
    const { driver, broker, topic, groupId } = under;
    await broker.createTopic(topic, 1);
    assert.equal(await driver.forgetGroup(groupId), true);
    const member = await join(under);
    assert.equal(await driver.forgetGroup(groupId), false);
    await member.member.stop();
    assert.deepEqual(await broker.committed(groupId, topic), [0]);
    assert.equal(await driver.forgetGroup(groupId), true);
    assert.deepEqual(
      (await broker.committed(groupId, topic)).filter((offset) => offset !== undefined),
      [],
    );
  });
}
