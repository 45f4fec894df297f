import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Flusher } from '../../../../src/transports/delivery/flusher.ts';
import { NEXT_FRAMES } from '../../../../src/transports/websocket/frame.ts';
import { SendQueue } from '../../../../src/transports/delivery/send-queue.ts';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { FakeFrameSink } from '../../../helpers/fake-frame-sink.ts';

/** A result with this data. */
function saying(data: string): SerializedResult {
  return new SerializedResult({ data } as object);
}

/** Bytes of the frame of a result with so many letters, for an id of one letter. */
function bytesOf(letters: number): number {
  return NEXT_FRAMES.length(saying('x'.repeat(letters)), 1);
}

function setUp(maxBytes = 100_000) {
  const flusher = new Flusher(Date.now, () => undefined);
  const wire = new FakeFrameSink();
  return { flusher, wire, sendQueue: new SendQueue(wire, wire, flusher, maxBytes) };
}

test('results added in one turn leave in one write, in order', async () => {
  const { wire, sendQueue } = setUp();
  sendQueue.add(saying('a'), '1');
  sendQueue.add(saying('b'), '2');
  assert.deepEqual(wire.said, []);
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1 b→2']);
  sendQueue.add(saying('c'), '1');
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1 b→2', 'c→1']);
});

test('sockets that are sent the same results get them under their own ids, of any length', async () => {
  const { flusher } = setUp();
  const results = [saying('a'), saying('b'), saying('c')];
  const ids = ['1', '2', 'a-longer-one', 'another-long', '3', ''];
  const wires = ids.map((id, index) => {
    const wire = new FakeFrameSink();
    const sendQueue = new SendQueue(wire, wire, flusher, 100_000);
    for (const result of index === 4 ? results.toReversed() : results) sendQueue.add(result, id);
    return wire;
  });
  await setImmediate();
  assert.deepEqual(
    wires.map(({ said }) => said.join()),
    ids.map((id, index) => (index === 4 ? 'c→3 b→3 a→3' : `a→${id} b→${id} c→${id}`)),
  );
});

test('a flush ahead of time leaves nothing for the end of the turn', async () => {
  const { wire, sendQueue } = setUp();
  sendQueue.add(saying('a'), '1');
  sendQueue.flush();
  assert.deepEqual(wire.said, ['a→1']);
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1']);
});

test('all results of a turn leave in order, in writes of 64 KiB unless a single result is larger', async () => {
  const { wire, sendQueue } = setUp(10_000_000);
  let expected = '';
  for (let index = 0; index < 1_000; index += 1) {
    const text = index % 100 === 0 ? 'x'.repeat(70_000) : `${index}`.repeat(50);
    sendQueue.add(saying(text), '1');
    expected += `${text}→1 `;
  }
  await setImmediate();
  assert.equal(wire.said.join(' '), expected.trim());
  const small = wire.writes.filter((write) => write.length < 70_000);
  assert.ok(small.every((write) => Buffer.byteLength(write) <= 65_536));
  assert.equal(wire.writes.length, 20);
});

test('nothing is written to a socket that has closed meanwhile', async () => {
  const { wire, sendQueue } = setUp();
  sendQueue.add(saying('a'), '1');
  wire.open = false;
  await setImmediate();
  sendQueue.add(saying('b'), '1');
  sendQueue.send('late');
  await setImmediate();
  assert.deepEqual(wire.writes, []);
});

test('while a socket is full its results wait, and leave together once it has drained', async () => {
  const { wire, sendQueue } = setUp();
  wire.slowFrom = 1;
  for (const text of ['a', 'b', 'c']) {
    sendQueue.add(saying(text), '1');
    await setImmediate();
  }
  assert.deepEqual(wire.said, ['a→1']);
  wire.slowFrom = Infinity;
  wire.drain();
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1', 'b→1 c→1']);
  sendQueue.add(saying('d'), '1');
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1', 'b→1 c→1', 'd→1']);
});

test('a socket counts as slow from the first result that it does not take until it has taken all', async () => {
  let now = 1_000;
  const wire = new FakeFrameSink();
  const flusher = new Flusher(
    () => now,
    () => undefined,
  );
  const sendQueue = new SendQueue(wire, wire, flusher, 100_000);
  const send = async (text: string): Promise<void> => {
    sendQueue.add(saying(text), '1');
    await setImmediate();
    now += 1_000;
  };
  await send('a');
  assert.equal(sendQueue.slowSince, undefined);
  wire.slowFrom = 1;
  await send('b');
  assert.equal(sendQueue.slowSince, undefined, 'the socket has taken it');
  await send('c');
  await send('d');
  assert.equal(sendQueue.slowSince, 3_000);
  wire.drain();
  await setImmediate();
  assert.equal(sendQueue.slowSince, undefined, 'c and d left in one write');
});

test('a result that waits for a socket keeps no other results in memory, though all are made in one buffer', async () => {
  const { wire, sendQueue } = setUp();
  const [first, second, third] = [saying('a'), saying('b'), saying('c')];
  wire.slowFrom = 1;
  sendQueue.add(first, '1');
  await setImmediate();
  sendQueue.add(second, '1');
  await setImmediate();
  sendQueue.add(third, '1');
  for (const { json } of [second, third]) assert.equal(json.buffer.byteLength, json.length);
  wire.slowFrom = Infinity;
  wire.drain();
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1', 'b→1 c→1']);
});

test('a socket that drains gets no more bytes than it takes', async () => {
  const { wire, sendQueue } = setUp(10_000_000);
  wire.slowFrom = 1;
  for (let index = 0; index < 200; index += 1) sendQueue.add(saying('x'.repeat(1_000)), '1');
  await setImmediate();
  for (let round = 1; round <= 3; round += 1) {
    assert.equal(wire.writes.length, round);
    wire.drain();
    await setImmediate();
    await setImmediate();
  }
});

test('messages of the protocol are sent after the results that wait, and before later ones', async () => {
  const { wire, sendQueue } = setUp();
  wire.slowFrom = 1;
  sendQueue.add(saying('a'), '1');
  sendQueue.send('first');
  sendQueue.add(saying('b'), '1');
  sendQueue.send('second');
  sendQueue.add(saying('c'), '1');
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1']);
  wire.slowFrom = Infinity;
  wire.drain();
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1', '<first>', 'b→1', '<second>', 'c→1']);
});

test('a message of the protocol waits for a full socket even if no result does', async () => {
  const { wire, sendQueue } = setUp();
  wire.full = true;
  sendQueue.send('pong');
  assert.deepEqual(wire.writes, []);
  wire.drain();
  await setImmediate();
  assert.deepEqual(wire.said, ['<pong>']);
});

test('a socket that is closed in order gets the results added before, full or not', async () => {
  const { wire, sendQueue } = setUp();
  wire.slowFrom = 1;
  sendQueue.add(saying('a'), '1');
  sendQueue.flush();
  sendQueue.add(saying('b'), '1');
  sendQueue.finish();
  assert.deepEqual(wire.said, ['a→1', 'b→1']);
  wire.drain();
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1', 'b→1']);
});

test('bytes may wait up to the bound, those that the socket holds included; one more, and the queue drops all and overflows, once', async () => {
  const { wire, sendQueue } = setUp(60 + bytesOf(10));
  wire.full = true;
  wire.waitingBytes = 60;
  sendQueue.add(saying('x'.repeat(10)), '1');
  await setImmediate();
  assert.equal(wire.overflows, 0);
  sendQueue.add(saying(''), '1');
  sendQueue.add(saying(''), '1');
  assert.equal(wire.overflows, 1);
  wire.open = true;
  wire.drain();
  await setImmediate();
  assert.deepEqual(wire.writes, []);
});

for (const kind of ['result', 'message of the protocol']) {
  for (const size of [2_000, 100_000]) {
    test(`one ${kind} of ${size} bytes, larger than the bound, is no slowness; so much more behind it is`, async () => {
      const { wire, sendQueue } = setUp(1_000);
      wire.slowFrom = 1;
      const add = (): void =>
        kind === 'result' ? sendQueue.add(saying('x'.repeat(size)), '1') : sendQueue.send('x'.repeat(size));
      for (let round = 1; round <= 3; round += 1) {
        add();
        sendQueue.send('complete');
        await setImmediate();
        assert.equal(wire.writes.length, round * 2 - 1);
        wire.drain();
        await setImmediate();
        wire.drain();
      }
      add();
      for (let n = 0; n < 10; n += 1) sendQueue.send('x'.repeat(95));
      assert.equal(wire.overflows, 0);
      sendQueue.send('x'.repeat(95));
      assert.equal(wire.overflows, 1);
    });
  }
}

test('a message larger than the bound that has gone out leaves no more room than before', async () => {
  const { wire, sendQueue } = setUp(1_000);
  wire.slowFrom = 1;
  sendQueue.send('x'.repeat(5_000));
  wire.drain();
  for (let n = 0; n < 10; n += 1) sendQueue.send('x'.repeat(95));
  assert.equal(wire.overflows, 0);
  sendQueue.send('x'.repeat(95));
  assert.equal(wire.overflows, 1);
});

test('a result larger than the bound that has gone out leaves no more room than before', async () => {
  const { wire, sendQueue } = setUp(1_000);
  wire.slowFrom = 1;
  sendQueue.add(saying('x'.repeat(5_000)), '1');
  await setImmediate();
  wire.drain();
  // The number of waiting bytes has not been read since then.
  sendQueue.add(saying('x'), '1');
  sendQueue.flush();
  for (let n = 0; n < 10; n += 1) sendQueue.add(saying('x'.repeat(100)), '1');
  await setImmediate();
  assert.equal(wire.overflows, 1);
});

test('bytes that a socket holds count with those that wait for it when the turn is over', async () => {
  const { wire, sendQueue } = setUp(1_000);
  wire.full = true;
  wire.waitingBytes = 900;
  sendQueue.add(saying('x'.repeat(100)), '1');
  assert.equal(wire.overflows, 0);
  await setImmediate();
  assert.equal(wire.overflows, 1);
});

test('bytes that have been written no longer count', async () => {
  const { wire, sendQueue } = setUp(bytesOf(10) * 2);
  for (let index = 0; index < 50; index += 1) {
    wire.slowFrom = 1;
    sendQueue.add(saying('x'.repeat(10)), '1');
    await setImmediate();
    sendQueue.add(saying('x'.repeat(10)), '1');
    await setImmediate();
    wire.slowFrom = Infinity;
    wire.drain();
    await setImmediate();
    await setImmediate();
  }
  assert.equal(wire.overflows, 0);
  assert.equal(wire.writes.length, 100);
});

test('messages of the protocol, too, overflow the queue of a socket that takes none of them', () => {
  const { wire, sendQueue } = setUp(100);
  wire.full = true;
  for (let index = 0; index < 20; index += 1) sendQueue.send('x'.repeat(10));
  assert.equal(wire.overflows, 1);
});

test('a burst larger than the bound is no slowness: a socket that takes it goes on', async () => {
  const { wire, sendQueue } = setUp(1_000);
  for (let index = 0; index < 100; index += 1) sendQueue.add(saying('0123'), '1');
  await setImmediate();
  assert.equal(wire.overflows, 0);
  assert.equal(wire.said.join(' '), Array.from({ length: 100 }, () => '0123→1').join(' '));
});

test('what has been dropped is not written when the socket has drained, nor at an orderly close', async () => {
  const { wire, sendQueue } = setUp();
  wire.slowFrom = 1;
  sendQueue.add(saying('a'), '1');
  await setImmediate();
  sendQueue.add(saying('b'), '1');
  sendQueue.drop();
  assert.equal(sendQueue.waitingBytes, sendQueue.copiedBytes);
  sendQueue.finish();
  wire.drain();
  await setImmediate();
  assert.deepEqual(wire.said, ['a→1']);
});
