import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { KafkaMessage } from '../../../src/events/event.ts';
import type { Schemas } from '../../../src/ingest/schemas/codec.ts';
import { SchemaUnavailable } from '../../../src/ingest/schemas/schema-unavailable.ts';
import { deferred } from '../../helpers/deferred.ts';
import { range } from '../../helpers/numbers.ts';
import { turnsUntil } from '../../helpers/turns-until.ts';
import { FakeBatch, setUp } from './kafka/batch-parts.ts';
import { record } from './parts.ts';

/** The values of one chunk, 16 KB each. */
const VALUES = range(0, 32).map((n) => JSON.stringify({ id: 1, n, text: 'x'.repeat(16_384) }));

const LEAST_TURNS = 6;

/** @returns in how many turns of the event loop the values are decoded */
async function turnsOf(t: TestContext, kafkaKey?: string): Promise<number> {
  let turn = 0;
  let counting: NodeJS.Immediate;
  const count = (): void => {
    turn += 1;
    counting = setImmediate(count);
  };
  count();
  t.after(() => clearImmediate(counting));
  const turns = new Set<number>();
  const decode = ({ value }: KafkaMessage) => {
    turns.add(turn);
    return JSON.parse(value.toString()) as { id: number };
  };
  const { consume, publisher } = setUp({ keys: ['id'], decode, kafkaKey });
  publisher.wants = (channel) => channel === 'bids:id=1';
  await consume(new FakeBatch(VALUES, kafkaKey === undefined ? [] : VALUES.map(() => '1')));
  assert.deepEqual([publisher.attempts, publisher.published.length], [1, VALUES.length]);
  return turns.size;
}

test('large events of a chunk are decoded in several turns of the event loop', async (t) => {
  const turns = await turnsOf(t);
  assert.ok(turns >= LEAST_TURNS, `expected ${LEAST_TURNS} turns or more, got ${turns}`);
});

test('so they are where their Kafka keys tell that somebody is subscribed', async (t) => {
  const turns = await turnsOf(t, 'id');
  assert.ok(turns >= LEAST_TURNS, `expected ${LEAST_TURNS} turns or more, got ${turns}`);
});

test('nothing is counted of records that wait for a schema, however often they are tried', async () => {
  const over = deferred();
  const schemas: Schemas = {
    schema: () => Promise.reject(new SchemaUnavailable('the registry is away', over.promise)),
  };
  const { consume, metrics } = setUp({ format: 'AVRO', schemas });
  const tombstone = record(null, { partition: 0, offset: 0, key: Buffer.from('1') });
  const waiting = record(Buffer.from('000000000502', 'hex'), { partition: 0, offset: 1 });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const batch = Object.assign(new FakeBatch([]), { records: [tombstone, waiting] });
    await consume(batch);
    assert.deepEqual([batch.committed, batch.pauses], [[], 1]);
    over.resolve();
    await turnsUntil(() => batch.resumes === 1);
  }
  const { values } = await metrics.tombstones.get();
  assert.deepEqual(
    values.map(({ value }) => value),
    [0],
  );
});
