import assert from 'node:assert/strict';
import test from 'node:test';
import { partitionTable } from '../../../../src/ingest/kafka/partition-table.ts';
import type { KafkaSourceState, PartitionState } from '../../../../src/ingest/kafka/state.ts';

test('the table of partitions shows what is known of each, and null for the rest', async () => {
  const fresh: PartitionState = {
    topic: 'bids',
    partition: 0,
    position: 4,
    highWatermark: undefined,
    lag: undefined,
    lagSeconds: undefined,
    state: 'consuming',
    reason: undefined,
  };
  const late: PartitionState = {
    ...fresh,
    partition: 1,
    highWatermark: 9,
    lag: 5,
    lagSeconds: 7,
    reason: 'x'.repeat(9_000),
  };
  const source = { inspect: () => ({ partitions: [fresh, late] }) as unknown as KafkaSourceState };
  const query = { sort: 'lagSeconds', descending: true, limit: 9, search: '' };
  const { rows } = await partitionTable(source).list(query, new AbortController().signal);
  const nothing = { highWatermark: null, lag: null, lagSeconds: null, reason: null };
  assert.deepEqual(rows, [
    { ...late, reason: `${'x'.repeat(500)}…` },
    { ...fresh, ...nothing },
  ]);
});
