import assert from 'node:assert/strict';
import type { RecordRange } from '../../src/ingest/kafka/driver.ts';
import type { KafkaRecord } from '../../src/ingest/record.ts';
import { join, range, type Check, type CheckFunction } from './kafka-checks.ts';

/** A topic of two partitions with ten records each, and how ranges of it are read. */
async function filled(under: Check) {
  const { broker, driver, topic } = under;
  await broker.createTopic(topic, 2);
  const member = await join(under);
  await broker.produce(topic, 0, range(0, 10));
  await broker.produce(topic, 1, range(10, 20));
  await member.until(() => member.committed === 20);
  const topicId = member.records[0]?.topicId;
  const rangeOf = (partition: number, from: number, until: number): RecordRange => {
    return { partition, topicId, resets: 0, leaderEpoch: undefined, from, until };
  };
  const read = async (ranges: readonly RecordRange[], signal = new AbortController().signal) => {
    const records: KafkaRecord[] = [];
    await driver.read(topic, ranges, async (some) => void records.push(...some), signal);
    return records;
  };
  return { member, rangeOf, read };
}

/** All but the value and what not all clients give where there is none. */
const placeOf = ({ topic, topicId, partition, offset, epoch, timestamp }: KafkaRecord) => {
  return { topic, topicId, partition, offset, epoch, timestamp };
};

const valuesOf = (records: readonly KafkaRecord[]): string[] => records.map(({ value }) => String(value));

/** What can be read once more. */
export function readingChecks(it: CheckFunction): void {
  it('ranges are read once more, each in order, and nothing is committed', async (under) => {
    const { member, rangeOf, read } = await filled(under);
    const records = await read([rangeOf(1, 2, 5), rangeOf(0, 9, 10), rangeOf(0, 0, 0)]);
    assert.deepEqual(valuesOf(records), ['12', '13', '14', '9']);
    const consumed = member.records.filter(({ partition, offset }) => partition === 1 && offset === 2);
    assert.deepEqual(records.slice(0, 1).map(placeOf), consumed.map(placeOf));
    assert.equal(member.committed, 20);
    assert.equal(member.assignments.length, 1);
  });

  it(
    'a range that the log does not begin with any more can not be read',
    async (under) => {
      const { rangeOf, read } = await filled(under);
      await under.broker.deleteRecords(under.topic, 0, 4);
      await assert.rejects(read([rangeOf(0, 3, 6)]));
      assert.deepEqual(valuesOf(await read([rangeOf(0, 4, 6)])), ['4', '5']);
    },
    'retention',
  );

  it('a range of a topic that has been made anew can not be read', async (under) => {
    const { broker, topic } = under;
    const { member, rangeOf, read } = await filled(under);
    await member.member.stop();
    await broker.deleteTopic(topic);
    await broker.createTopic(topic, 2);
    await broker.produce(topic, 0, range(0, 10));
    await assert.rejects(read([rangeOf(0, 3, 6)]));
  });

  it('reading ends with the signal where the log has lost what is to be read', async (under) => {
    const { rangeOf, read } = await filled(under);
    const aborting = new AbortController();
    const reading = read([rangeOf(0, 8, 12)], aborting.signal);
    aborting.abort();
    await assert.rejects(reading);
  });

  it(
    'what a transaction has not committed is left out',
    async (under) => {
      const { rangeOf, read } = await filled(under);
      const transaction = await under.broker.transaction();
      await transaction.produce(under.topic, 0, ['aborted']);
      await transaction.abort();
      await under.broker.produce(under.topic, 0, ['behind']);
      assert.deepEqual(valuesOf(await read([rangeOf(0, 9, 13)])), ['9', 'behind']);
    },
    'transactions',
  );
}
