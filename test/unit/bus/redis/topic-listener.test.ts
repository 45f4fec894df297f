import assert from 'node:assert/strict';
import test from 'node:test';
import { BRANCH_SEQUENCES, withPosition, type HistoryRead } from '../../../../src/bus/history.ts';
import { TopicListener } from '../../../../src/bus/redis/topic-listener.ts';
import { createLog } from '../../../../src/log.ts';
import { ownBytes } from '../../../../src/support/byte-budget.ts';
import { systemClock } from '../../../../src/support/clock.ts';

const EPOCH = 'e';

const message = (sequence: number, epoch = EPOCH): string => withPosition({ epoch, sequence }, '{"v":1}');

/** Listens to channels a and b. Each read is answered by the test, or as the options say. */
function listen(options: Partial<ConstructorParameters<typeof TopicListener>[0]> = {}) {
  const heard: string[] = [];
  const reads: { since: number; answer: (read: HistoryRead) => void }[] = [];
  const listener = new TopicListener({
    topic: 'kept',
    read: (since) => new Promise((answer) => reads.push({ since, answer })),
    room: ownBytes(1_000),
    fence: async () => undefined,
    missed: () => assert.fail('all that was missed can be read'),
    healed: () => undefined,
    begunAnew: () => assert.fail('the epoch is the same'),
    clock: systemClock,
    log: createLog('silent'),
    ...options,
  });
  const hear = Object.fromEntries(
    ['a', 'b'].map((channel) => [
      channel,
      listener.listen(channel, (payload) => heard.push(`${channel} ${payload}`)),
    ]),
  ) as Record<'a' | 'b', (payload: string) => void>;
  for (const channel of Object.keys(hear)) listener.joined(channel, undefined);
  listener.stands({ epoch: EPOCH, sequence: 4 });
  const beat = (): void => {
    listener.heardBeat();
    listener.confirm();
  };
  return { listener, hear, heard, reads, beat };
}

const read = (sequence: number, a: readonly number[], b: readonly number[]): HistoryRead => ({
  position: { epoch: EPOCH, sequence },
  size: 100,
  isCut: false,
  channels: [
    { channel: 'a', from: 0, isAll: true, messages: a.map((n) => message(n)) },
    { channel: 'b', from: 0, isAll: true, messages: b.map((n) => message(n)) },
  ],
});

test('a connection that is lost between two messages of one event loses neither', async () => {
  const { listener, hear, heard, reads } = listen();
  hear.a(message(5));
  assert.deepEqual(listener.position, { epoch: EPOCH, sequence: 4 });
  listener.hold();
  const healed = listener.heal();
  assert.equal(reads[0]?.since, 4);
  reads[0]?.answer(read(6, [5], [5, 6]));
  await healed;
  assert.deepEqual(heard, [`a ${message(5)}`, `b ${message(5)}`, `b ${message(6)}`]);
  assert.deepEqual(listener.position, { epoch: EPOCH, sequence: 6 });
});

test('it is healed once what was held has been passed on, after however many lost connections', async () => {
  const { listener, hear, heard, reads } = listen();
  await listener.healed();
  listener.hold();
  void listener.heal();
  hear.a(message(8));
  listener.hold();
  let isHealed = false;
  const healed = listener.healed().then(() => (isHealed = true));
  reads[0]?.answer(read(8, [8], []));
  const healing = listener.heal();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isHealed, false);
  assert.deepEqual(heard, []);
  reads[1]?.answer(read(9, [8], [9]));
  await Promise.all([healing, healed]);
  assert.deepEqual(heard, [`a ${message(8)}`, `b ${message(9)}`]);
});

test('where the server was not the one that is published to, messages that came since it last was are behind a gap', () => {
  let gaps = 0;
  const { listener, hear, beat } = listen({ missed: () => void (gaps += 1) });
  hear.a(message(5));
  beat();
  listener.doubt();
  assert.equal(gaps, 0, 'nothing has come since');
  hear.a(message(7));
  listener.doubt();
  assert.equal(gaps, 1);
  hear.a(message(BRANCH_SEQUENCES + 1));
  listener.doubt();
  listener.hold();
  assert.equal(gaps, 2, 'the lost connection is told no more, as the heartbeat gives it up');
});

test('a position that is read confirms what was heard up to it, also where the reply to a heartbeat comes later, and nothing behind it', () => {
  let gaps = 0;
  const { listener, hear } = listen({ missed: () => void (gaps += 1) });
  listener.heardBeat();
  hear.a(message(7));
  listener.stands({ epoch: EPOCH, sequence: 7 });
  listener.confirm();
  listener.doubt();
  assert.equal(gaps, 0);
  hear.a(message(9));
  listener.stands({ epoch: EPOCH, sequence: 8 });
  listener.doubt();
  assert.equal(gaps, 1);
});

test('messages that come between a heartbeat and the reply to it are not confirmed', () => {
  let gaps = 0;
  const { listener, hear } = listen({ missed: () => void (gaps += 1) });
  hear.a(message(5));
  listener.heardBeat();
  hear.a(message(BRANCH_SEQUENCES + 1));
  listener.confirm();
  listener.hold();
  assert.equal(gaps, 1);
});

for (const [what, epoch, sequence] of [
  ['epoch', 'another', 1],
  ['branch', EPOCH, BRANCH_SEQUENCES + 1],
] as const) {
  test(`messages of another ${what}, heard before anything has confirmed the connection, are behind a gap when that is lost, once`, async () => {
    let gaps = 0;
    const { listener, hear, reads, beat } = listen({
      missed: () => void (gaps += 1),
      begunAnew: () => undefined,
    });
    hear.a(message(5));
    beat();
    hear.a(message(6));
    listener.hold();
    const healed = listener.heal();
    reads[0]?.answer(read(6, [5, 6], []));
    await healed;
    assert.equal(gaps, 0, 'the same server has numbered all of them');
    hear.a(message(sequence, epoch));
    listener.hold();
    listener.hold();
    assert.equal(gaps, 1);
  });
}

for (const [what, epoch, sequence, expected] of [
  ['epoch are no gap', 'another', 1, 0],
  ['branch are one, as its server may have been a replica meanwhile,', EPOCH, BRANCH_SEQUENCES + 1, 1],
] as const) {
  test(`messages of another ${what} when the connection is lost after this pod was seen to listen there`, () => {
    let gaps = 0;
    const { listener, hear, beat } = listen({ missed: () => void (gaps += 1), begunAnew: () => undefined });
    beat();
    hear.a(message(sequence, epoch));
    listener.stands({ epoch, sequence });
    hear.a(message(sequence + 1, epoch));
    listener.hold();
    assert.equal(gaps, expected);
  });
}

test('where what was missed can not be told from what has been passed on, one gap is told, and none at the next loss', async () => {
  let gaps = 0;
  const { listener, reads, beat } = listen({ missed: () => void (gaps += 1), begunAnew: () => undefined });
  beat();
  listener.hold();
  const healed = listener.heal();
  reads[0]?.answer({ ...read(3, [], []), position: { epoch: 'another', sequence: 3 } });
  await healed;
  listener.hold();
  assert.deepEqual([gaps, listener.position], [1, { epoch: 'another', sequence: 3 }]);
});

test('what is published in another epoch, or without history, while what was missed is being read is passed on behind it', async () => {
  const without = '{"v":1}';
  const later = [message(1, 'another'), without, message(2, 'another')];
  let begun = 0;
  const { listener, hear, heard, reads } = listen({ begunAnew: () => void (begun += 1) });
  listener.hold();
  const healed = listener.heal();
  hear.a(message(6));
  for (const payload of [without, ...later]) hear.b(payload);
  reads[0]?.answer(read(6, [5, 6], []));
  await healed;
  const expected = [
    ...[message(5), message(6)].map((payload) => `a ${payload}`),
    ...[without, ...later].map((payload) => `b ${payload}`),
  ];
  assert.deepEqual(heard, expected);
  assert.deepEqual([listener.position, begun], [{ epoch: 'another', sequence: 1 }, 1]);
});

for (const [state, at] of [
  ['is being joined when', undefined],
  ['has been joined while', { epoch: EPOCH, sequence: 5 }],
] as const) {
  test(`a channel that ${state} the connection is lost makes no gap of what others have`, async () => {
    const { listener, heard, reads } = listen();
    listener.listen('c', (payload) => heard.push(`c ${payload}`));
    listener.hold();
    if (at !== undefined) listener.joined('c', at);
    const healed = listener.heal();
    const { channels, ...rest } = read(6, [5], []);
    reads[0]?.answer({
      ...rest,
      channels: [...channels, { channel: 'c', from: 5, isAll: true, messages: [message(6)] }],
    });
    await healed;
    assert.deepEqual(heard, [`a ${message(5)}`, `c ${message(6)}`]);
  });
}

test('what was missed is read with as many bytes as it takes, and told as a gap if that is more than there are', async () => {
  for (const [left, expected, passedOn] of [
    [1, [1_048_576, 4_194_304, 'missed'], []],
    [0, [1_048_576, 4_194_304], [`a ${message(5)}`]],
  ] as const) {
    const seen: unknown[] = [];
    const room = ownBytes(4 * 1024 * 1024);
    const { listener, heard } = listen({
      room,
      read: async (_since, _channels, { maxBytes }) => {
        seen.push(maxBytes);
        assert.equal(room.held, maxBytes);
        const whole = read(5, [5], []);
        return seen.length > 1 && left === 0 ? whole : { ...whole, isCut: true };
      },
      missed: () => seen.push('missed'),
    });
    listener.hold();
    await listener.heal();
    assert.deepEqual([seen, heard, room.held], [expected, passedOn, 0]);
  }
});
