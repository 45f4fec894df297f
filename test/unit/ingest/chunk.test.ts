import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { KafkaMessage } from '../../../src/events/event.ts';
import { range } from '../../helpers/numbers.ts';
import { FakeBatch, setUp } from './kafka/batch-parts.ts';

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
