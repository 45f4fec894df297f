import assert from 'node:assert/strict';
import test from 'node:test';
import { Flusher, Outbox, type Wire } from '../../../src/hub/flush.ts';

class FakeWire implements Wire {
  open = true;
  waitingBytes = 0;
  overflows = 0;
  readonly writes: string[] = [];
  /** What the socket can't send at once waits. */
  slow = false;
  write(chunks: readonly Buffer[]): void {
    const bytes = Buffer.concat(chunks);
    this.writes.push(bytes.toString());
    if (this.slow) this.waitingBytes += bytes.length;
  }
  overflow(): void {
    this.overflows += 1;
    this.open = false;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const bytes = (text: string): Buffer => Buffer.from(text);

function setUp(maxBytes = 1_000) {
  const delays: number[] = [];
  const flusher = new Flusher(
    () => 5_000,
    (seconds) => delays.push(seconds),
  );
  const wire = new FakeWire();
  return { delays, flusher, wire, outbox: new Outbox(wire, flusher, maxBytes) };
}

test('what is added in one turn leaves in one write, in order', async () => {
  const { wire, outbox } = setUp();
  outbox.add(bytes('a'), bytes('1'));
  outbox.add(bytes('b'), bytes('2'));
  assert.deepEqual(wire.writes, []);
  await turn();
  assert.deepEqual(wire.writes, ['a1b2']);
  outbox.add(bytes('c'), bytes('3'));
  await turn();
  assert.deepEqual(wire.writes, ['a1b2', 'c3']);
});

test('a flush ahead of time leaves nothing for the end of the turn', async () => {
  const { wire, outbox } = setUp();
  outbox.add(bytes('a'), bytes('1'));
  outbox.flush();
  assert.deepEqual(wire.writes, ['a1']);
  await turn();
  assert.deepEqual(wire.writes, ['a1']);
});

test('however much one turn gathers, it leaves in one write, in order', async () => {
  const { wire, outbox } = setUp(1_000_000);
  let expected = '';
  for (let index = 0; index < 1_000; index += 1) {
    const large = index % 100 === 0 ? 'x'.repeat(40_000) : `${index}`;
    outbox.add(bytes(large), bytes('|'));
    expected += `${large}|`;
  }
  await turn();
  assert.deepEqual(wire.writes, [expected]);
});

test('nothing is written to a socket that has closed meanwhile', async () => {
  const { wire, outbox } = setUp();
  outbox.add(bytes('a'), bytes('1'));
  wire.open = false;
  await turn();
  outbox.add(bytes('b'), bytes('2'));
  await turn();
  assert.deepEqual(wire.writes, []);
});

test('up to the bound bytes may wait, what the socket holds included; one more and it overflows once', async () => {
  const { wire, outbox } = setUp(10);
  wire.slow = true;
  wire.waitingBytes = 6;
  outbox.add(bytes('ab'), bytes('cd'));
  assert.equal(wire.overflows, 0);
  outbox.add(bytes('e'), bytes(''));
  outbox.add(bytes('f'), bytes(''));
  await turn();
  assert.equal(wire.overflows, 1);
});

test('a burst larger than the bound is no slowness: a socket that takes it goes on', async () => {
  const { wire, outbox } = setUp(10);
  for (let index = 0; index < 100; index += 1) outbox.add(bytes('0123'), bytes('4567'));
  await turn();
  assert.equal(wire.overflows, 0);
  assert.equal(wire.writes.join(''), '01234567'.repeat(100));
});

test('the delay of an event is taken when its results have been written', async () => {
  const { delays, flusher, outbox } = setUp();
  flusher.timed(1_000);
  outbox.add(bytes('a'), bytes('1'));
  flusher.timed(4_750);
  assert.deepEqual(delays, []);
  await turn();
  assert.deepEqual(delays, [0.25]);
});
