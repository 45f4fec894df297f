import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
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

  it('as a member is assigned, its positions are where it starts; heartbeats confirm it from then on', async (under) => {
    const { broker, topic } = under;
    await broker.createTopic(topic, 2);
    for (const partition of [0, 1]) await broker.produce(topic, partition, range(0, 3 + partition));
    const first = await join(under);
    const { confirmedAt } = first.member;
    for (const partition of [0, 1]) await broker.produce(topic, partition, ['a', 'b']);
    await first.until(() => first.committed === 4);
    const second = await join(under);
    await first.until(() => first.partitions === 1 && second.partitions === 1);
    assert.deepEqual(first.starts[0], { 0: 3, 1: 4 });
    assert.deepEqual({ ...first.starts.at(-1), ...second.starts.at(-1) }, { 0: 5, 1: 6 });
    assert.notEqual(confirmedAt, -Infinity);
    await first.until(() => first.member.confirmedAt > confirmedAt);
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

  it('while a topic is gone the others are consumed, by members that ask for those only', async (under) => {
    const { driver, broker, topic, groupId, t } = under;
    const gone = `${topic}-gone`;
    for (const name of [topic, gone]) await broker.createTopic(name, 2);
    const begin = (topics: readonly string[]) => new TestMember(driver, { groupId, topics }).start(t);
    let members: readonly TestMember[] = await Promise.all([begin([topic, gone]), begin([topic, gone])]);
    await members[0]?.until(() => members.every(({ partitions }) => partitions === 2));
    await broker.deleteTopic(gone);
    for (const partition of [0, 1]) await broker.produce(topic, partition, range(0, 10));
    const all = [...members];
    const count = () => all.reduce((sum, { records }) => sum + records.length, 0);
    const replaceCrashed = async (): Promise<void> => {
      for (const member of members.filter(({ crash }) => crash !== undefined)) {
        assert.equal(driver.isRetriable(member.crash), true, member.crash?.message);
        await member.member.stop();
        const next = await begin([topic]);
        members = members.map((one) => (one === member ? next : one));
        all.push(next);
      }
    };
    const begun = Date.now();
    await eventually(async () => {
      await replaceCrashed();
      assert.equal(count(), 20);
    });
    t.diagnostic(`after ${Date.now() - begun} ms`);
    for (const partition of [0, 1])
      assert.deepEqual(
        all.flatMap((member) => member.values(partition)),
        range(0, 10),
      );
  });

  it('topics that are missing are named', async ({ driver, broker, topic }) => {
    await broker.createTopic(topic, 1);
    assert.deepEqual(await driver.missingTopics([topic, `${topic}-2`]), [`${topic}-2`]);
    const all = await driver.topics();
    assert.deepEqual([all.includes(topic), all.includes(`${topic}-2`)], [true, false]);
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
