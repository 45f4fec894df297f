import assert from 'node:assert/strict';
import type { Codec } from './kafka-broker.ts';
import { join, range, type Check, type CheckFunction } from './kafka-checks.ts';

/** That brokers take by default. */
const LARGEST_BATCH = 1_048_588;

/** A member that reads what is written to the sink. */
async function withSink(under: Check, partitions = 1) {
  await under.broker.createTopic(under.topic, partitions);
  const sink = under.driver.deadLetterSink(under.topic);
  under.t.after(() => sink.stop());
  return { sink, member: await join(under) };
}

/** What records hold, and which of them come. */
export function recordChecks(it: CheckFunction): void {
  it('dead letters are written as they are, though a header has no value', async (under) => {
    const { member, sink } = await withSink(under);
    const headers = { reason: 'not_json', trace: null as unknown as Buffer };
    await sink.send([{ key: Buffer.from('k'), value: Buffer.from([0xff, 0]), headers }]);
    await member.until(() => member.records.length === 1);
    const [record] = member.records;
    assert.deepEqual([String(record?.key), record?.value], ['k', Buffer.from([0xff, 0])]);
    assert.equal(String(record?.headers?.['reason']), 'not_json');
    assert.equal(record?.epoch, 0, 'the first leader of the partition has appended it');
  });

  it(
    'a dead letter that is larger than its topic takes is written without its value',
    async (under) => {
      const { member, sink } = await withSink(under);
      const headers = { reason: 'not_json' };
      await sink.send([
        { key: null, value: Buffer.alloc(LARGEST_BATCH), headers },
        { key: null, value: Buffer.from('x'), headers },
      ]);
      await member.until(() => member.records.length === 2);
      const [large, small] = member.records;
      assert.equal(large?.value, null);
      assert.equal(String(large.headers?.['sluice-bytes-left-out']), String(LARGEST_BATCH));
      assert.deepEqual(small?.value, Buffer.from('x'));
    },
    'size limit',
  );

  it('dead letters of one partition stay in order', async (under) => {
    const { member, sink } = await withSink(under, 4);
    const headers = { 'sluice-topic': 'bids', 'sluice-partition': '3' };
    const values = range(0, 20);
    await sink.send(
      values.map((value) => ({
        key: Number(value) % 2 === 0 ? null : Buffer.from(value),
        value: Buffer.from(value),
        headers,
      })),
    );
    await member.until(() => member.records.length === values.length);
    assert.deepEqual(member.values(member.records[0]?.partition), values);
  });

  it(
    'a record with 12,000 headers is handed over with all of them, without another join, and those behind it too',
    async (under) => {
      const { broker, topic } = under;
      await broker.createTopic(topic, 1);
      const member = await join(under);
      const headers = Object.fromEntries(range(0, 12_000).map((n) => [`header-${n}`, 'v']));
      await broker.produce(topic, 0, ['heavy'], headers);
      await broker.produce(topic, 0, ['light']);
      await member.until(() => member.committed === 2);
      assert.deepEqual(member.values(), ['heavy', 'light']);
      assert.equal(Object.keys(member.records[0]?.headers ?? {}).length, 12_000);
      assert.equal(member.assignments.length, 1);
    },
    'headers',
  );

  it(
    'records of each codec are read',
    async (under) => {
      const { broker, topic } = under;
      await broker.createTopic(topic, 1);
      const member = await join(under);
      const codecs: Codec[] = ['gzip', 'snappy', 'lz4', 'zstd'];
      for (const [index, codec] of codecs.entries()) {
        await broker.produceWith(codec, topic, range(index * 500, (index + 1) * 500));
      }
      await member.until(() => member.records.length >= 2_000);
      assert.deepEqual(member.values(), range(0, 2_000));
    },
    'codecs',
  );

  it(
    'of interleaved transactions exactly the committed ones come, and none of an open one until it is committed',
    async (under) => {
      const { broker, topic } = under;
      await broker.createTopic(topic, 2);
      const member = await join(under);
      const padding = `/${'x'.repeat(3_000)}`; // so that transactions stretch over several fetches
      const expected: string[] = [];
      let n = 0;
      const interleave = async (kinds: readonly ('commit' | 'abort')[]) => {
        const transactions = await Promise.all(kinds.map(() => broker.transaction()));
        for (let turn = 0; turn < 30; turn += 1) {
          for (const [index, transaction] of transactions.entries()) {
            n += 1;
            if (kinds[index] === 'commit') expected.push(String(n));
            await transaction.produce(topic, 0, [`${n}${padding}`]);
          }
        }
        for (const [index, transaction] of transactions.entries())
          await transaction[kinds[index] ?? 'abort']();
      };
      const numbers = () => member.values(0).map((value) => value.split('/')[0]);
      await interleave(['commit', 'abort', 'abort', 'commit']);
      await interleave(['abort', 'abort', 'abort']);
      await member.until(() => numbers().length >= expected.length);
      const before = [...expected];
      const open = await broker.transaction();
      await open.produce(topic, 0, ['open']);
      expected.push('open');
      await interleave(['abort', 'commit']);
      // Fetches go on: what comes on the other partition shows it.
      await broker.produce(topic, 1, ['marker']);
      await member.until(() => member.values(1).length === 1);
      assert.deepEqual(numbers(), before);
      await open.commit();
      await member.until(() => numbers().length >= expected.length);
      assert.deepEqual(numbers(), expected);
    },
    'transactions',
  );
}
