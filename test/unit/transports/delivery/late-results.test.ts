import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { Flusher } from '../../../../src/transports/delivery/flusher.ts';
import type { LateReceiver } from '../../../../src/transports/delivery/late-results.ts';
import { SendQueue } from '../../../../src/transports/delivery/send-queue.ts';
import { FakeFrameSink } from '../../../helpers/fake-frame-sink.ts';
import { expectInOrder, range } from '../../../helpers/numbers.ts';
import { Random } from '../../../helpers/random.ts';

type Policy = LateReceiver['onSlow'];

const SEEDS = 200;
const STEPS = 200;

/** The result of an event of this key; without one, of no event. */
function saying(data: string, key?: string): SerializedResult {
  return new SerializedResult({ data } as object, undefined, key);
}

function receiver(onSlow: Policy, id = '1'): LateReceiver {
  return { id, onSlow, withGap: (result, leftOut) => result.telling(leftOut, false) };
}

function setUp(maxBytes = 100_000) {
  let leftOut = 0;
  const flusher = new Flusher(Date.now, () => undefined, { leftOut: () => (leftOut += 1) });
  const wire = new FakeFrameSink();
  const sendQueue = new SendQueue(wire, wire, flusher, maxBytes);
  /** Delivers as a subscription does. */
  const deliver = (to: LateReceiver, result: SerializedResult): void => {
    if (to.onSlow !== 'DISCONNECT' && sendQueue.isSlow) sendQueue.addLate(to, result);
    else sendQueue.add(to.withGap(result, 0), to.id);
  };
  return { wire, sendQueue, deliver, leftOut: () => leftOut };
}

interface Said {
  readonly id: string;
  readonly data: string;
  readonly skipped: number;
}

/** What has been written, results only. */
function saidBy({ writes }: FakeFrameSink): Said[] {
  const frames = /\{"payload":(\{.*?\}),"id":"(.*?)","type":"next"\}/gs;
  return [...writes.join('').matchAll(frames)].map(([, json = '', id = '']) => {
    const { data, extensions } = JSON.parse(json) as {
      readonly data: string;
      readonly extensions?: { readonly gap: { readonly skipped: number } };
    };
    return { id, data, skipped: extensions?.gap.skipped ?? 0 };
  });
}

const inShort = (wire: FakeFrameSink): string =>
  saidBy(wire)
    .map(({ data, skipped }) => (skipped === 0 ? data : `${data}+${skipped}`))
    .join(' ');

async function drained(wire: FakeFrameSink): Promise<void> {
  wire.slowFrom = Infinity;
  wire.drain();
  await setImmediate();
}

/** A full socket, for which a first result of this policy, of the key `first`, waits. */
async function full(onSlow: Policy, maxBytes?: number, waitingBytes = 0) {
  const parts = setUp(maxBytes);
  const to = receiver(onSlow);
  Object.assign(parts.wire, { full: true, waitingBytes });
  parts.deliver(to, saying('first', 'first'));
  await setImmediate();
  return { ...parts, to };
}

/** A socket that has taken one result, and has another one in its queue: found to be full, it has the next wait apart. */
async function slowed() {
  const parts = setUp();
  const to = receiver('CONFLATE');
  parts.wire.slowFrom = 1;
  for (const data of ['a1', 'a2']) {
    parts.deliver(to, saying(data, 'a'));
    await setImmediate();
  }
  return { ...parts, to };
}

test('a slow socket keeps the latest result of each key, in the order in which these came', async () => {
  const { wire, deliver, leftOut, to } = await slowed();
  for (const data of ['a3', 'b1', 'c1', 'a4', 'b2']) deliver(to, saying(data, data[0]));
  assert.equal(inShort(wire), 'a1');
  await drained(wire);
  assert.equal(inShort(wire), 'a1 a2 c1 a4+1 b2+1');
  assert.equal(leftOut(), 2);
  for (const data of ['a5', 'a6']) deliver(to, saying(data, 'a'));
  await setImmediate();
  assert.equal(inShort(wire), 'a1 a2 c1 a4+1 b2+1 a5 a6');
});

test('a result of no event is kept each time, even if it is the same one', async () => {
  const { wire, deliver, leftOut, to } = await slowed();
  const skipped = saying('skipped');
  for (const result of [skipped, saying('a3', 'a'), skipped]) deliver(to, result);
  await drained(wire);
  assert.equal(inShort(wire), 'a1 a2 skipped a3 skipped');
  assert.equal(leftOut(), 0);
});

test('a slow socket has the oldest results dropped beyond half of its bound, and is not closed', async () => {
  const { wire, deliver, leftOut, to } = await full('DROP_OLDEST', 1_000, 100);
  for (let n = 1; n <= 100; n += 1) deliver(to, saying(`${n}`, ''));
  assert.equal(wire.overflows, 0);
  await drained(wire);
  const [first, next, ...rest] = saidBy(wire);
  assert.equal(first?.data, 'first');
  assert.equal(next?.skipped, leftOut());
  assert.equal(Number(next?.data), leftOut() + 1);
  assert.equal(rest.at(-1)?.data, '100');
  assert.ok(rest.length > 3 && rest.every(({ skipped }) => skipped === 0));
});

test('results of no event are neither dropped nor superseded, and stay where they are', async () => {
  for (const policy of ['DROP_OLDEST', 'CONFLATE'] as const) {
    const { wire, deliver, to } = await full(policy, 1_000, 450);
    for (const data of ['a1', 'gap', 'a2', 'a3', 'gap', 'a4']) {
      deliver(to, saying(data, data === 'gap' ? undefined : 'a'));
    }
    await drained(wire);
    assert.equal(inShort(wire), 'first gap gap a4+3');
  }
});

test('keys without end close the socket, as results that may not be left out do', async () => {
  const { wire, deliver, to } = await full('CONFLATE', 1_000);
  for (let n = 1; n < 100 && wire.overflows === 0; n += 1) deliver(to, saying(`${n}`, `${n}`));
  assert.equal(wire.overflows, 1);
});

test('a burst within one turn, larger than the bound, leaves out what the socket does not take', async () => {
  const { wire, deliver } = setUp(1_000);
  const events = receiver('DROP_OLDEST');
  wire.slowFrom = 300;
  for (let n = 1; n <= 100; n += 1) deliver(events, saying(`${n}`, ''));
  await setImmediate();
  assert.equal(wire.overflows, 0);
  await drained(wire);
  assert.equal(saidBy(wire).at(-1)?.data, '100');
});

test('a subscription that ends has what waits sent before the message that says so', async () => {
  const { wire, sendQueue, deliver, to } = await full('CONFLATE');
  for (const each of [to, receiver('CONFLATE', '2')]) {
    for (const data of ['a1', 'a2']) deliver(each, saying(data, 'a'));
  }
  sendQueue.release(to);
  sendQueue.flush();
  sendQueue.send('complete');
  await drained(wire);
  const text = wire.writes.join('');
  assert.ok(text.indexOf('"a2","extensions":{"gap":{"skipped":1}}},"id":"1"') < text.indexOf('<complete>'));
  assert.ok(text.indexOf('<complete>') < text.indexOf('"id":"2"'));
  assert.equal(inShort(wire), 'first a2+1 a2+1');
});

test('of a slow socket with subscriptions of each policy, the results that may not be left out decide', async () => {
  const { wire, deliver, leftOut, to } = await full('DISCONNECT', 2_000);
  const other = receiver('CONFLATE', 'latest');
  for (let n = 1; n <= 1_000; n += 1) deliver(other, saying(`${n}`, 'a'));
  for (let n = 1; n <= 10; n += 1) deliver(to, saying(`${n}`, 'a'));
  assert.equal(wire.overflows, 0);
  assert.equal(leftOut(), 999);
  await drained(wire);
  const said = saidBy(wire).filter(({ id }) => id === to.id);
  assert.equal(said.map(({ data }) => data).join(' '), 'first 1 2 3 4 5 6 7 8 9 10');
  assert.equal(inShort(wire).split(' ').at(-1), '1000+999');

  wire.full = true;
  for (let n = 1; n <= 100 && wire.overflows === 0; n += 1) {
    deliver(to, saying(`${n}`, 'a'));
    await setImmediate();
  }
  assert.equal(wire.overflows, 1);
});

test('a client that never reads holds no more than the bound, and no message of the protocol is lost', async () => {
  for (const policy of ['DROP_OLDEST', 'CONFLATE'] as const) {
    const { wire, sendQueue, deliver } = setUp(10_000);
    const all = range(0, 5).map((id) => receiver(policy, `${id}`));
    wire.slowFrom = 1;
    for (let n = 0; n < 2_000; n += 1) {
      for (const to of all) deliver(to, saying(`${n}`, `${n % 3}`));
      if (n % 100 === 0) sendQueue.send(`pong ${n}`);
      if (n % 10 === 0) await setImmediate();
      assert.ok(sendQueue.waitingBytes <= 10_000, `${sendQueue.waitingBytes} bytes wait`);
    }
    assert.equal(wire.overflows, 0);
    await drained(wire);
    const pongs = wire.writes.join('').match(/<pong \d+>/g);
    const sent = range(0, 20).map((n) => `<pong ${n * 100}>`);
    assert.deepEqual(pongs, sent);
  }
});

test('a subscription that its client has ended is sent nothing more of what waits apart', async () => {
  const { wire, sendQueue, deliver, to } = await full('CONFLATE');
  for (const each of [to, receiver('CONFLATE', '2')]) deliver(each, saying('a1', 'a'));
  const { waitingBytes } = sendQueue;
  sendQueue.discard(to);
  assert.ok(sendQueue.waitingBytes < waitingBytes);
  await drained(wire);
  const each = saidBy(wire).map(({ id, data }) => id + data);
  assert.deepEqual(each, ['1first', '2a1']);
  sendQueue.discard(to);
  assert.equal(sendQueue.waitingBytes, 0);
});

test('however much waits apart is written', async () => {
  const { wire, sendQueue } = setUp(Infinity);
  const large = saying('x'.repeat(70_000));
  let written = 0;
  wire.writePieces = () => void (written += 1);
  const events: LateReceiver = { id: '1', onSlow: 'DROP_OLDEST', withGap: () => large };
  for (let n = 0; n < 20_000; n += 1) sendQueue.addLate(events, saying(`${n}`, ''));
  await setImmediate();
  assert.equal(written, 20_000);
});

test('what one slow socket is told is not kept for others', () => {
  const result = saying('a1', 'a');
  assert.notEqual(result.telling(3, true, false), result.telling(3, true, false));
  assert.equal(result.telling(3, true), result.telling(3, true));
});

test('a socket that is closed in order gets what waits; one that is dropped gets nothing', async () => {
  for (const [end, expected] of [
    ['finish', 'first a2+1'],
    ['drop', ''],
  ] as const) {
    const { wire, sendQueue, deliver } = await full('CONFLATE');
    const other = receiver('CONFLATE');
    for (const data of ['a1', 'a2']) deliver(other, saying(data, 'a'));
    sendQueue[end]();
    assert.equal(sendQueue.waitingBytes, 0);
    await drained(wire);
    assert.equal(inShort(wire), expected);
  }
});

test(`in the random courses of ${SEEDS} seeds, each key's latest comes, in order, and what is left out is told`, async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = Random.of(seed, 'late results');
    const { wire, deliver, leftOut } = setUp(random.pick([2_000, 6_000]));
    const receivers = (['DROP_OLDEST', 'CONFLATE'] as const).map((policy) => receiver(policy, policy));
    const keys = ['a', 'b', 'c'];
    const sent = new Map<string, { readonly data: string; readonly key: string }[]>();
    for (let step = 0; step < STEPS; step += 1) {
      const to = random.pick(receivers);
      const key = random.pick(keys);
      const mine = sent.get(to.id) ?? [];
      sent.set(to.id, mine);
      const action = random.between(1, 10);
      if (action <= 7) {
        mine.push({ data: `${step}`, key });
        deliver(to, saying(`${step}`, key));
      } else if (action === 8) await setImmediate();
      else if (action === 9) wire.slowFrom = random.pick([1, 100, Infinity]);
      else wire.drain();
    }
    await drained(wire);
    await setImmediate();
    assert.equal(wire.overflows, 0, `seed ${seed}`);
    let told = 0;
    for (const to of receivers) {
      const said = saidBy(wire).filter(({ id }) => id === to.id);
      const mine = sent.get(to.id) ?? [];
      const numbers = said.map(({ data }) => Number(data));
      expectInOrder(numbers, `seed ${seed}`);
      const skipped = said.reduce((sum, one) => sum + one.skipped, 0);
      assert.equal(said.length + skipped, mine.length, `seed ${seed}, ${to.id}: all are accounted for`);
      told += skipped;
      assert.equal(said.at(-1)?.data, mine.at(-1)?.data, `seed ${seed}, ${to.id}: the latest`);
      if (to.onSlow !== 'CONFLATE') continue;
      for (const key of keys) {
        const last = mine.findLast((one) => one.key === key)?.data;
        assert.ok(last === undefined || said.some(({ data }) => data === last), `seed ${seed}: ${key}`);
      }
    }
    assert.equal(leftOut(), told, `seed ${seed}`);
  }
});

test('keys count among the bytes that wait, though they are not written', async () => {
  const { wire, deliver, leftOut, to } = await full('CONFLATE');
  let held = 0;
  for (let n = 0; n < 100 && wire.overflows === 0 && leftOut() === 0; n += 1) {
    deliver(to, saying(`${n}`, 'k'.repeat(10_000) + n));
    held += 10_000;
  }
  assert.ok(held <= 200_000, `${held} bytes of keys wait`);
});

test('a result that stands for others has memory of its own while it waits', async () => {
  const { deliver, to } = await full('CONFLATE');
  const result = saying('second', 'second');
  deliver(to, result.standingFor({ of: () => 1 }));
  assert.equal(result.json.buffer.byteLength, result.json.length);
});
