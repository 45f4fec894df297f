import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Flusher } from '../../../../src/transports/delivery/flusher.ts';
import { SendQueue } from '../../../../src/transports/delivery/send-queue.ts';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { FakeFrameSink } from '../../../helpers/fake-frame-sink.ts';

const RESULT = new SerializedResult({ data: {} });

function setUp(sockets: number) {
  const delays: number[] = [];
  const ages: (number | undefined)[] = [];
  const flusher = new Flusher(
    () => 5_000,
    (delay, age) => {
      delays.push(delay);
      ages.push(age);
    },
  );
  const pairs = Array.from({ length: sockets }, () => {
    const wire = new FakeFrameSink();
    return { wire, sendQueue: new SendQueue(wire, wire, flusher, 100_000_000) };
  });
  const written = (): number => pairs.reduce((sum, { wire }) => sum + wire.writes.length, 0);
  return { delays, ages, flusher, pairs, written };
}

test('the delay and the age of an event are measured when its results have been written', async () => {
  const { delays, ages, flusher, pairs, written } = setUp(1);
  flusher.timed({ in: 1_000, ts: 1_000 });
  pairs[0]?.sendQueue.add(RESULT, '1');
  flusher.timed({ in: 4_750, ts: 4_000 });
  assert.deepEqual(delays, []);
  await setImmediate();
  assert.equal(written(), 1);
  assert.deepEqual(delays, [0.25]);
  assert.deepEqual(ages, [1]);
});

test('an event from the future has no age but 0, and one without a time has none', async () => {
  const { delays, ages, flusher, pairs } = setUp(1);
  pairs[0]?.sendQueue.add(RESULT, '1');
  flusher.timed({ in: 6_000, ts: 9_000 });
  flusher.timed({ in: 4_000, ts: -1 });
  await setImmediate();
  assert.deepEqual(delays, [0, 1]);
  assert.deepEqual(ages, [0, undefined]);
});

test('a socket whose write throws is not written to again, and the others get their results', (t) => {
  const turns: (() => void)[] = [];
  t.mock.method(globalThis, 'setImmediate', (turn: () => void) => turns.push(turn));
  const { flusher, pairs } = setUp(3);
  for (const { sendQueue } of pairs) sendQueue.add(RESULT, '1');
  t.mock.method(pairs[1]?.wire ?? assert.fail(), 'write', () => {
    throw new Error('broken');
  });
  assert.throws(() => turns.shift()?.(), /broken/);
  turns.shift()?.();
  assert.deepEqual(
    pairs.map(({ wire }) => wire.writes.length),
    [1, 0, 1],
  );
  assert.equal(flusher.writing, false);
});

test('the flusher writes to many sockets in several turns, once to each, and the delay is that of the last one', async () => {
  const { delays, flusher, pairs, written } = setUp(3_000);
  for (const { sendQueue } of pairs) sendQueue.add(RESULT, '1');
  flusher.timed({ in: 4_000, ts: 0 });
  for (const expected of [1_024, 2_048]) {
    await setImmediate();
    assert.equal(written(), expected);
    assert.equal(flusher.writing, true);
    assert.deepEqual(delays, []);
  }
  await setImmediate();
  assert.ok(pairs.every(({ wire }) => wire.writes.length === 1));
  assert.equal(flusher.writing, false);
  assert.deepEqual(delays, [1]);
});

test('the flusher writes to sockets that drain at once in several turns, too', async () => {
  const { pairs, written } = setUp(3_000);
  for (const { wire, sendQueue } of pairs) {
    wire.full = true;
    sendQueue.add(RESULT, '1');
  }
  for (let turns = 0; turns < 4; turns += 1) await setImmediate();
  for (const { wire } of pairs) wire.drain();
  for (const expected of [0, 1_024, 2_048, 3_000]) {
    assert.equal(written(), expected);
    await setImmediate();
  }
});

test('the flusher writes large results to fewer sockets a turn', async () => {
  const { pairs, written } = setUp(10);
  const large = new SerializedResult({ data: { text: 'x'.repeat(5 * 1024 * 1024) } });
  for (const { sendQueue } of pairs) sendQueue.add(large, '1');
  await setImmediate();
  assert.equal(written(), 4);
  await setImmediate();
  assert.equal(written(), 8);
});

test('results added while sockets of an earlier turn wait are written after those of that turn, in order', async () => {
  const { flusher, pairs } = setUp(2_000);
  const more = new SerializedResult({ data: { more: 1 } });
  for (const { sendQueue } of pairs) sendQueue.add(RESULT, '1');
  await setImmediate();
  for (const { sendQueue } of pairs) sendQueue.add(more, '1');
  await setImmediate();
  while (flusher.writing) await setImmediate();
  await setImmediate();
  for (const { wire } of pairs) {
    const said = wire.writes.join('');
    assert.ok(said.indexOf('"data":{}') >= 0);
    assert.ok(said.indexOf('"more"') > said.indexOf('"data":{}'));
    assert.equal(said.split('"type":"next"').length, 3);
  }
});

test('spans of writes end with them, and the delay of an event that is traced names its trace', async () => {
  const traced: unknown[] = [];
  const flusher = new Flusher(
    () => 5_000,
    (_delay, _age, traceparent) => traced.push(traceparent),
  );
  const wire = new FakeFrameSink();
  const steps: string[] = [];
  const span = (name: string) => ({ end: () => void steps.push(`${name} after ${wire.writes.length}`) });
  flusher.traced(span('of no socket'));
  new SendQueue(wire, wire, flusher, 100_000_000).add(RESULT, '1');
  flusher.timed({ in: 1, ts: 1 });
  flusher.timed({ in: 1, ts: 1, traceparent: 'of the second' });
  flusher.traced(span('of one'));
  assert.deepEqual(steps, ['of no socket after 0']);
  await setImmediate();
  assert.deepEqual(steps, ['of no socket after 0', 'of one after 1']);
  assert.deepEqual(traced, [undefined, 'of the second']);
});
