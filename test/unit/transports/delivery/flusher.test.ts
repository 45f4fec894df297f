import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Flusher } from '../../../../src/transports/delivery/flusher.ts';
import { SendQueue } from '../../../../src/transports/delivery/send-queue.ts';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { FakeFrameSink } from '../../../helpers/fake-frame-sink.ts';

const RESULT = new SerializedResult({ data: {} });

/** Queues of so many sockets, all of one flusher, and what it tells of each event that is timed. */
function setUp(sockets: number, now = () => 5_000) {
  const told: unknown[][] = [];
  const flusher = new Flusher(now, (...timed) => void told.push(timed));
  const pairs = Array.from({ length: sockets }, () => {
    const wire = new FakeFrameSink();
    return { wire, sendQueue: new SendQueue(wire, wire, flusher, 100_000_000) };
  });
  const addToAll = (result = RESULT): void => pairs.forEach(({ sendQueue }) => sendQueue.add(result, '1'));
  const written = (): number => pairs.reduce((sum, { wire }) => sum + wire.writes.length, 0);
  return { told, flusher, pairs, addToAll, written };
}

test('the delay and the age of an event are measured when its results have been written', async () => {
  const { told, flusher, addToAll, written } = setUp(1);
  flusher.timed({ in: 1_000, ts: 1_000 });
  addToAll();
  flusher.timed({ in: 4_750, ts: 4_000 });
  flusher.timed({ in: 6_000, ts: 9_000 });
  flusher.timed({ in: 4_000, ts: -1 });
  assert.deepEqual(told, []);
  await turn();
  assert.equal(written(), 1);
  const [past, fromTheFuture, withoutTime] = [
    [0.25, 1, undefined],
    [0, 0, undefined],
    [1, undefined, undefined],
  ];
  assert.deepEqual(told, [past, fromTheFuture, withoutTime]);
});

test('a socket whose write throws is not written to again, and the others get their results', (t) => {
  const turns: (() => void)[] = [];
  t.mock.method(globalThis, 'setImmediate', (next: () => void) => turns.push(next));
  const { flusher, pairs, addToAll } = setUp(3);
  addToAll();
  t.mock.method(pairs[1]?.wire ?? assert.fail(), 'write', () => {
    throw new Error('broken');
  });
  assert.throws(() => turns.shift()?.(), /broken/);
  turns.shift()?.();
  const writes = pairs.map(({ wire }) => wire.writes.length);
  assert.deepEqual(writes, [1, 0, 1]);
  assert.equal(flusher.writing, false);
});

test('a turn whose writes take long ends after some sockets, and the others get their results in the next ones', async () => {
  let ms = 0;
  const { addToAll, written } = setUp(40, () => (ms += 21));
  addToAll();
  for (const expected of [16, 32, 40]) {
    await turn();
    assert.equal(written(), expected);
  }
});

test('the flusher writes to many sockets in several turns, once to each, and the delay is that of the last one', async () => {
  const { told, flusher, pairs, addToAll, written } = setUp(3_000);
  addToAll();
  flusher.timed({ in: 4_000, ts: 0 });
  for (const expected of [1_024, 2_048]) {
    await turn();
    assert.equal(written(), expected);
    assert.equal(flusher.writing, true);
    assert.deepEqual(told, []);
  }
  await turn();
  assert.ok(pairs.every(({ wire }) => wire.writes.length === 1));
  assert.equal(flusher.writing, false);
  const delays = told.map(([delay]) => delay);
  assert.deepEqual(delays, [1]);
});

test('the flusher writes to sockets that drain at once in several turns, too', async () => {
  const { pairs, addToAll, written } = setUp(3_000);
  for (const { wire } of pairs) wire.full = true;
  addToAll();
  for (let turns = 0; turns < 4; turns += 1) await turn();
  for (const { wire } of pairs) wire.drain();
  for (const expected of [0, 1_024, 2_048, 3_000]) {
    assert.equal(written(), expected);
    await turn();
  }
});

test('the flusher writes large results to fewer sockets a turn', async () => {
  const { addToAll, written } = setUp(10);
  addToAll(new SerializedResult({ data: { text: 'x'.repeat(5 * 1024 * 1024) } }));
  for (const expected of [4, 8]) {
    await turn();
    assert.equal(written(), expected);
  }
});

test('results added while sockets of an earlier turn wait are written after those of that turn, in order', async () => {
  const { flusher, pairs, addToAll } = setUp(2_000);
  addToAll();
  await turn();
  addToAll(new SerializedResult({ data: { more: 1 } }));
  await turn();
  while (flusher.writing) await turn();
  await turn();
  for (const { wire } of pairs) {
    const said = wire.writes.join('').matchAll(/"data":(\{.*?\})\},"id":"1","type":"next"/g);
    const order = [...said].map(([, data]) => data);
    assert.deepEqual(order, ['{}', '{"more":1}']);
  }
});

test('spans of writes end with them, and the delay of an event that is traced names its trace', async () => {
  const { told, flusher, addToAll, written } = setUp(1);
  const steps: string[] = [];
  const span = (name: string) => ({ end: () => void steps.push(`${name} after ${written()}`) });
  flusher.traced(span('of no socket'));
  addToAll();
  flusher.timed({ in: 1, ts: 1 });
  flusher.timed({ in: 1, ts: 1, traceparent: 'of the second' });
  flusher.traced(span('of one'));
  assert.deepEqual(steps, ['of no socket after 0']);
  await turn();
  assert.deepEqual(steps, ['of no socket after 0', 'of one after 1']);
  const traceparents = told.map(([, , traceparent]) => traceparent);
  assert.deepEqual(traceparents, [undefined, 'of the second']);
});
