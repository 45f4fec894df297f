import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
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

const newFlusher = (now = Date.now): Flusher => new Flusher(now, () => undefined);

interface Given extends Partial<Pick<FakeFrameSink, 'slowFrom' | 'full' | 'waitingBytes'>> {
  readonly maxBytes?: number;
  readonly flusher?: Flusher;
}

/** A queue, and the socket that it is for. */
function setUp({ maxBytes = 100_000, flusher = newFlusher(), ...rest }: Given = {}) {
  const wire = Object.assign(new FakeFrameSink(), rest);
  const sendQueue = new SendQueue(wire, wire, flusher, maxBytes);
  const add = (...texts: string[]): void => texts.forEach((text) => sendQueue.add(saying(text), '1'));
  const addInTurn = async (...texts: string[]): Promise<void> => {
    for (const text of texts) {
      add(text);
      await turn();
    }
  };
  /** From now on the socket takes all. */
  const drained = async (): Promise<void> => {
    wire.slowFrom = Infinity;
    wire.drain();
    await turn();
  };
  return { wire, sendQueue, add, addInTurn, drained };
}

/** Full after each write, until it has drained. */
const SLOW = { slowFrom: 1 };

test('results added in one turn leave in one write, in order', async () => {
  const { wire, sendQueue, addInTurn } = setUp();
  sendQueue.add(saying('a'), '1');
  sendQueue.add(saying('b'), '2');
  assert.deepEqual(wire.said, []);
  await turn();
  assert.deepEqual(wire.said, ['a→1 b→2']);
  await addInTurn('c');
  assert.deepEqual(wire.said, ['a→1 b→2', 'c→1']);
});

test('sockets that are sent the same results get them under their own ids, of any length', async () => {
  const flusher = newFlusher();
  const results = [saying('a'), saying('b'), saying('c')];
  const ids = ['1', '2', 'a-longer-one', 'another-long', '3', ''];
  const wires = ids.map((id, index) => {
    const { wire, sendQueue } = setUp({ flusher });
    for (const result of index === 4 ? results.toReversed() : results) sendQueue.add(result, id);
    return wire;
  });
  await turn();
  const expected = ids.map((id, index) => (index === 4 ? 'c→3 b→3 a→3' : `a→${id} b→${id} c→${id}`));
  assert.deepEqual(
    wires.map(({ said }) => said.join()),
    expected,
  );
});

test('all results of a turn leave in order, in writes of 64 KiB unless a single result is larger', async () => {
  const { wire, add } = setUp({ maxBytes: 10_000_000 });
  const texts = Array.from({ length: 1_000 }, (_, n) =>
    n % 100 === 0 ? 'x'.repeat(70_000) : `${n}`.repeat(50),
  );
  add(...texts);
  await turn();
  assert.equal(wire.said.join(' '), texts.map((text) => `${text}→1`).join(' '));
  const small = wire.writes.filter((write) => write.length < 70_000);
  assert.ok(small.every((write) => Buffer.byteLength(write) <= 65_536));
  assert.equal(wire.writes.length, 20);
});

test('nothing is written to a socket that has closed meanwhile', async () => {
  const { wire, sendQueue, add } = setUp();
  add('a');
  wire.open = false;
  await turn();
  add('b');
  sendQueue.send('late');
  await turn();
  assert.deepEqual(wire.writes, []);
});

test('a socket counts as slow from the first result that it does not take until it has taken all', async () => {
  let now = 1_000;
  const { wire, sendQueue, addInTurn } = setUp({ flusher: newFlusher(() => now) });
  const send = async (text: string): Promise<void> => {
    await addInTurn(text);
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
  await turn();
  assert.equal(sendQueue.slowSince, undefined, 'c and d left in one write');
});

test('a result that waits for a socket keeps no other results in memory, though all are made in one buffer', async () => {
  const { wire, sendQueue, drained } = setUp(SLOW);
  const [first, second, third] = [saying('a'), saying('b'), saying('c')];
  for (const result of [first, second]) {
    sendQueue.add(result, '1');
    await turn();
  }
  sendQueue.add(third, '1');
  for (const { json } of [second, third]) assert.equal(json.buffer.byteLength, json.length);
  await drained();
  assert.deepEqual(wire.said, ['a→1', 'b→1 c→1']);
});

test('a socket that drains gets no more bytes than it takes', async () => {
  const { wire, add } = setUp({ ...SLOW, maxBytes: 10_000_000 });
  add(...Array<string>(200).fill('x'.repeat(1_000)));
  await turn();
  for (let round = 1; round <= 3; round += 1) {
    assert.equal(wire.writes.length, round);
    wire.drain();
    await turn();
    await turn();
  }
});

test('messages of the protocol are sent after the results that wait, and before later ones', async () => {
  const { wire, sendQueue, add, addInTurn, drained } = setUp(SLOW);
  add('a');
  sendQueue.send('first');
  add('b');
  sendQueue.send('second');
  await addInTurn('c');
  assert.deepEqual(wire.said, ['a→1']);
  await drained();
  assert.deepEqual(wire.said, ['a→1', '<first>', 'b→1', '<second>', 'c→1']);
});

test('a socket that is closed in order gets the results added before, full or not', async () => {
  const { wire, sendQueue, add, drained } = setUp(SLOW);
  add('a');
  sendQueue.flush();
  add('b');
  sendQueue.finish();
  assert.deepEqual(wire.said, ['a→1', 'b→1']);
  await drained();
  assert.deepEqual(wire.said, ['a→1', 'b→1']);
});

test('bytes may wait up to the bound, those that the socket holds included; one more, and the queue drops all and overflows, once', async () => {
  const { wire, add, addInTurn, drained } = setUp({
    maxBytes: 60 + bytesOf(10),
    full: true,
    waitingBytes: 60,
  });
  await addInTurn('x'.repeat(10));
  assert.equal(wire.overflows, 0);
  add('', '');
  assert.equal(wire.overflows, 1);
  wire.open = true;
  await drained();
  assert.deepEqual(wire.writes, []);
});

/** Ten messages of 95 bytes fit into a bound of 1,000, and not one more. */
function expectRoomForTen({ wire, sendQueue }: ReturnType<typeof setUp>): void {
  for (let n = 0; n < 10; n += 1) sendQueue.send('x'.repeat(95));
  assert.equal(wire.overflows, 0);
  sendQueue.send('x'.repeat(95));
  assert.equal(wire.overflows, 1);
}

for (const kind of ['result', 'message of the protocol']) {
  for (const size of [2_000, 100_000]) {
    test(`one ${kind} of ${size} bytes, larger than the bound, is no slowness; so much more behind it is`, async () => {
      const parts = setUp({ ...SLOW, maxBytes: 1_000 });
      const { wire, sendQueue, add } = parts;
      const addLarge = (): void =>
        kind === 'result' ? add('x'.repeat(size)) : sendQueue.send('x'.repeat(size));
      for (let round = 1; round <= 3; round += 1) {
        addLarge();
        sendQueue.send('complete');
        await turn();
        assert.equal(wire.writes.length, round * 2 - 1);
        wire.drain();
        await turn();
        wire.drain();
      }
      addLarge();
      expectRoomForTen(parts);
    });
  }
}

test('a message larger than the bound that has gone out leaves no more room than before', () => {
  const parts = setUp({ ...SLOW, maxBytes: 1_000 });
  parts.sendQueue.send('x'.repeat(5_000));
  parts.wire.drain();
  expectRoomForTen(parts);
});

test('a result larger than the bound that has gone out leaves no more room than before', async () => {
  const { wire, sendQueue, add, addInTurn } = setUp({ ...SLOW, maxBytes: 1_000 });
  await addInTurn('x'.repeat(5_000));
  wire.drain();
  // The number of waiting bytes has not been read since then.
  add('x');
  sendQueue.flush();
  add(...Array<string>(10).fill('x'.repeat(100)));
  await turn();
  assert.equal(wire.overflows, 1);
});

test('bytes that a socket holds count with those that wait for it when the turn is over', async () => {
  const { wire, add } = setUp({ maxBytes: 1_000, full: true, waitingBytes: 900 });
  add('x'.repeat(100));
  assert.equal(wire.overflows, 0);
  await turn();
  assert.equal(wire.overflows, 1);
});

test('a burst larger than the bound is no slowness: a socket that takes it goes on', async () => {
  const { wire, add } = setUp({ maxBytes: 1_000 });
  const burst = Array<string>(100).fill('0123');
  add(...burst);
  await turn();
  assert.equal(wire.overflows, 0);
  assert.equal(wire.said.join(' '), burst.map((text) => `${text}→1`).join(' '));
});

test('what has been dropped is not written when the socket has drained, nor at an orderly close', async () => {
  const { wire, sendQueue, add, addInTurn, drained } = setUp(SLOW);
  await addInTurn('a');
  add('b');
  sendQueue.drop();
  assert.equal(sendQueue.waitingBytes, sendQueue.copiedBytes);
  sendQueue.finish();
  await drained();
  assert.deepEqual(wire.said, ['a→1']);
});
