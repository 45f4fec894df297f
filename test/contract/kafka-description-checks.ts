import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
import { readPositionText } from '../../src/ingest/kafka/position-text.ts';
import { join, range, type Check, type CheckFunction } from './kafka-checks.ts';
import { TestMember } from './kafka-member.ts';

const describe = ({ driver, groupId, topic }: Check) => driver.describeGroup(groupId, [topic]);

const busesOf = (texts: readonly (string | null)[]) => texts.map((text) => readPositionText(text)?.bus);

/** What is known of a group before it is joined. */
export function descriptionChecks(it: CheckFunction): void {
  it('a group that is not there has no members and no positions', async (under) => {
    await under.broker.createTopic(under.topic, 2);
    assert.deepEqual(await describe(under), { hasMembers: false, texts: [] });
  });

  it('a group tells who is in it, and of each position the bus that it was published to', async (under) => {
    const { broker, topic, groupId, driver, t } = under;
    await broker.createTopic(topic, 3);
    const member = new TestMember(driver, { groupId, topics: [topic], bus: 'ours' });
    await member.start(t);
    await broker.produce(topic, 1, range(0, 5));
    await member.until(() => member.committed === 5);
    const { hasMembers, texts } = await describe(under);
    assert.deepEqual(
      { hasMembers, buses: busesOf(texts) },
      { hasMembers: true, buses: Array(3).fill('ours') },
    );
    await member.member.stop();
    await eventually(async () => assert.equal((await describe(under)).hasMembers, false));
    assert.deepEqual(busesOf((await describe(under)).texts), Array(3).fill('ours'));
  });

  it('positions that name another bus, or none, are committed again as they are', async (under) => {
    const { broker, topic, groupId, driver, t } = under;
    await broker.createTopic(topic, 2);
    const unnamed = await join(under);
    await broker.produce(topic, 0, range(0, 5));
    await unnamed.until(() => unnamed.committed === 5);
    await unnamed.member.stop();
    const before = await broker.committed(groupId, topic);
    for (const bus of ['theirs', 'ours']) {
      const member = new TestMember(driver, { groupId, topics: [topic], bus });
      await member.start(t);
      await eventually(async () => assert.deepEqual(busesOf((await describe(under)).texts), [bus, bus]));
      assert.deepEqual(await broker.committed(groupId, topic), before);
      await member.member.stop();
    }
    const last = await join(under);
    await broker.produce(topic, 0, ['new']);
    await last.until(() => last.records.length > 0);
    assert.deepEqual(last.values(), ['new']);
  });
}
