import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Listener } from '../../../../src/bus/bus.ts';
import { writePositions } from '../../../../src/bus/redis/heard-positions.ts';
import { MissedMessages } from '../../../../src/bus/redis/missed-messages.ts';
import { BusNames } from '../../../../src/bus/redis/names.ts';
import { BUS_TIMING } from '../../../../src/bus/redis/timing.ts';
import type {
  ConsumedPartition,
  ConsumedTopic,
  Consumption,
  LogRange,
  Reader,
} from '../../../../src/events/consumption.ts';
import { createLog } from '../../../../src/log.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { ownBytes } from '../../../../src/support/byte-budget.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MAX_BYTES = 1_000;

interface Read {
  readonly topic: string;
  readonly ranges: readonly LogRange[];
  readonly signal: AbortSignal;
  readonly reader: Reader;
  readonly end: (error?: Error) => void;
}

const LOG = { partition: 0, log: 'id/0', leaderEpoch: 3, lastEpoch: 3, lastFrom: undefined };

/** Up to `next`, all of the only partition of `bids` has been published. */
const consumed = (next: number, others: Partial<ConsumedPartition> = {}, topic = 'bids'): [ConsumedTopic] => {
  const partition = { ...LOG, assignedAt: 7, start: 0, next, until: next, ...others };
  return [{ topic, count: 1, partitions: [partition] }];
};

const notJoined = (): void => assert.fail('expected the channel of positions to be joined');

/** This pod listens to channel a of `bids`, or of another stream, and consumes nothing of it; another pod does. */
async function setUp(
  t: TestContext,
  {
    histories = new Map<string, unknown>(),
    isEdge = false,
    stream = 'bids',
    before = consumed(2) as ConsumedTopic[],
  } = {},
) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const clock = new FakeClock();
  clock.patience = 0;
  let own: ConsumedTopic[] = [];
  const redis = { isSilent: false, isUsable: true, listeners: 1, ownConnections: 1 };
  const sent: string[] = [];
  const reads: Read[] = [];
  const told: string[] = [];
  const heard: string[] = [];
  let hearPositions: Listener = notJoined;
  const consumption: Consumption = {
    topics: () => own,
    topicsOf: (one) => one.split(','),
    isOf: (_stream, topic) => topic !== 'others',
    read: (topic, ranges, reader, signal) =>
      new Promise((resolve, reject) => {
        reads.push({ topic, ranges, reader, signal, end: (error) => (error ? reject(error) : resolve()) });
      }),
  };
  const missed = new MissedMessages({
    commands: {
      send: async ([command = []]) => {
        sent.push(command.join(' '));
        if (redis.isSilent) return new Promise(() => undefined);
        return [{ value: redis.listeners }, { value: ['@pod:me', redis.ownConnections] }];
      },
    },
    names: new BusNames(''),
    pod: 'me',
    consumption: () => (isEdge ? undefined : consumption),
    histories,
    publishes: () => redis.isUsable,
    lost: (topic) => told.push(`${topic} lost`),
    read: (topic) => told.push(`${topic} read`),
    missed: (topic, isCertain) => told.push(`${topic} ${isCertain ? 'certainly ' : ''}missed`),
    room: ownBytes(MAX_BYTES),
    metrics: new Metrics(),
    clock,
    timing: BUS_TIMING,
    log: createLog('silent'),
  });
  t.after(() => missed.stop());
  const join = async (_channel: string, listener: Listener) => void (hearPositions = listener);
  await Promise.race([missed.start({ join }), setImmediate()]);
  const listen = (channel: string, into = heard): Listener =>
    missed.listen(stream, channel, (payload) => into.push(String(payload)));
  const hear = listen('a');
  const positions = (topics: ConsumedTopic[]): void => hearPositions(writePositions(topics));
  const answer = (topics: ConsumedTopic[], number = sent.at(-1)?.split(' ').at(-1)): void => {
    assert.equal(missed.heard(`@other ${number} ${writePositions(topics)}`), true);
  };
  answer(before);
  await setImmediate();
  const confirm = (): void => {
    missed.heardBeat();
    missed.confirm();
  };
  confirm();
  return {
    missed,
    confirm,
    redis,
    sent,
    reads,
    told,
    heard,
    listen,
    hear,
    /** The connection is lost, and there is another one. */
    blink: () => {
      missed.lost();
      missed.listens();
    },
    hearPositions: (text: string) => hearPositions(text),
    positions,
    /** The other pod answers, and what is missing is read. */
    answer: async (topics: ConsumedTopic[], number?: string): Promise<Read | undefined> => {
      await setImmediate();
      answer(topics, number);
      await setImmediate();
      return reads.at(-1);
    },
    consume: (topics: ConsumedTopic[]) => (own = topics),
    beat: () => t.mock.timers.tick(BUS_TIMING.beatMs),
    pass: async (ms: number) => {
      clock.advance(ms);
      await setImmediate();
    },
  };
}

async function blinked(t: TestContext, options?: Parameters<typeof setUp>[1]) {
  const parts = await setUp(t, options);
  parts.blink();
  return parts;
}

const RANGE: LogRange = { ...LOG, from: 2, until: 6 };

test('what a pod has missed is read before what it hears over the next connection', async (t) => {
  const { hear, heard, answer, told } = await blinked(t);
  assert.deepEqual(told, ['bids lost'], 'what is missed is read, or told later');
  hear('6');
  const read = await answer(consumed(6));
  assert.deepEqual(read?.ranges, [RANGE]);
  assert.deepEqual(['a', 'b'].filter(read.reader.wants), ['a'], 'only what is listened to');
  for (const n of ['3', '4', '5']) read.reader.passOn('a', n);
  hear('7');
  assert.deepEqual(heard, ['3', '4', '5']);
  read.end();
  await setImmediate();
  hear('8');
  assert.deepEqual(heard, ['3', '4', '5', '6', '7', '8']);
  assert.deepEqual(told, ['bids lost', 'bids read']);
});

test('of a stream of several topics each is read that was published to, and none if another one is new', async (t) => {
  const both = (asks: number, bids: number) => [...consumed(asks, {}, 'asks'), ...consumed(bids)];
  const options = { stream: 'asks,bids', before: both(4, 2) };
  const { hear, heard, answer, told, reads, blink } = await blinked(t, options);
  hear('6');
  await answer(both(5, 6));
  assert.deepEqual(reads[0]?.ranges, [{ ...RANGE, from: 4, until: 5 }]);
  reads[0].reader.passOn('a', 'ask');
  reads[0].end();
  await setImmediate();
  assert.deepEqual([reads[1]?.topic, reads[1]?.ranges], ['bids', [RANGE]]);
  reads[1]?.reader.passOn('a', '3');
  reads[1]?.end();
  await setImmediate();
  assert.deepEqual(heard, ['ask', '3', '6']);
  blink();
  await answer([...both(5, 9), ...consumed(9, {}, 'others')]);
  assert.equal(reads.length, 3, 'a topic of another stream is none of its');
  blink();
  await answer([...both(5, 9), ...consumed(9, {}, 'lots')]);
  assert.equal(reads.length, 3);
  assert.deepEqual(told, [
    'asks,bids lost',
    'asks,bids read',
    'asks,bids lost',
    'asks,bids lost',
    'asks,bids missed',
  ]);
});

test('a topic that is kept from now on is not read any more: what it is missing is told', async (t) => {
  const { missed, hear, heard, answer, told } = await blinked(t);
  hear('6');
  const read = await answer(consumed(6));
  missed.end('bids');
  assert.equal(read?.signal.aborted, true);
  read.reader.passOn('a', '3');
  missed.end('bids');
  assert.deepEqual([heard, told], [['6'], ['bids lost', 'bids missed']]);
});

test('nothing is read where nothing was published', async (t) => {
  const { hear, heard, answer, told, reads } = await blinked(t);
  hear('3');
  await answer(consumed(2));
  assert.deepEqual([heard, reads, told], [['3'], [], ['bids lost', 'bids read']]);
});

test('an answer to a question of before does not count', async (t) => {
  const { answer, sent, reads, blink } = await blinked(t);
  await setImmediate();
  const number = sent.at(-1)?.split(' ').at(-1);
  blink();
  await answer(consumed(6), number);
  assert.deepEqual(reads, []);
  assert.deepEqual((await answer(consumed(9)))?.ranges, [{ ...RANGE, until: 9 }]);
});

test('while the bus is paused no more is read', async (t) => {
  const { missed, answer } = await blinked(t);
  const read = await answer(consumed(6));
  await read?.reader.ready();
  missed.pause();
  let isReady = false;
  const ready = read?.reader.ready().then(() => (isReady = true));
  await setImmediate();
  assert.equal(isReady, false);
  missed.resume();
  await ready;
});

test('a channel that is left gets nothing of what is read', async (t) => {
  const { missed, answer, listen } = await blinked(t);
  missed.left('bids', 'a');
  listen('a');
  const read = await answer(consumed(6));
  assert.equal(read, undefined, 'nothing is read for nobody');
});

test('a connection that is lost while it is read is healed from where the first one was', async (t) => {
  const { answer, reads, blink } = await blinked(t);
  await answer(consumed(6));
  blink();
  assert.equal(reads[0]?.signal.aborted, true);
  const read = await answer(consumed(9));
  assert.deepEqual(read?.ranges, [{ ...RANGE, until: 9 }]);
});

type Happening = readonly [what: string, happen: (parts: Awaited<ReturnType<typeof setUp>>) => unknown];

for (const [what, happen] of [
  ['the log is another one', async ({ answer }) => void (await answer(consumed(6, { log: 'id/1' })))],
  ['no pod answers', async ({ pass }) => pass(6_000)],
  [
    'Redis does not answer',
    async ({ redis, blink, hear, pass }) => {
      redis.isSilent = true;
      blink();
      hear('7');
      await pass(15_000);
    },
  ],
  [
    'Kafka does not answer',
    async ({ answer, pass }) => {
      await answer(consumed(6));
      await pass(15_000);
    },
  ],
  ['it can not be read', async ({ answer }) => (await answer(consumed(6)))?.end(new Error('gone'))],
  [
    'it is too much',
    async ({ answer }) => {
      const read = await answer(consumed(6));
      assert.throws(() => read?.reader.passOn('a', 'x'.repeat(MAX_BYTES + 1)), {
        message: `expected at most ${MAX_BYTES} bytes, got more`,
      });
      read?.end(new Error('too much'));
    },
  ],
] as const satisfies Happening[]) {
  test(`it is told, and listening goes on, where ${what}`, async (t) => {
    const parts = await blinked(t);
    parts.hear('7');
    await setImmediate();
    await happen(parts);
    await setImmediate();
    parts.hear('8');
    assert.deepEqual(parts.heard, ['7', '8']);
    assert.deepEqual([...new Set(parts.told)], ['bids lost', 'bids missed']);
  });
}

test('who joins behind a lost connection gets nothing of before: what all may have missed then is told', async (t) => {
  const { missed, answer, told, reads, listen } = await blinked(t);
  missed.left('bids', 'a');
  listen('a');
  assert.equal(missed.mayMiss('bids'), false, 'while it is held');
  await answer(consumed(2));
  assert.equal(missed.mayMiss('bids'), false, 'and later');
  assert.deepEqual([reads, told], [[], ['bids lost', 'bids read']]);
});

test('behind what is passed on before a heartbeat has confirmed anything, nothing is read that came before it', async (t) => {
  const { missed, confirm, hear, heard, told, answer, blink, listen } = await blinked(t);
  listen('b');
  blink();
  assert.deepEqual(told, ['bids lost', 'bids missed']);
  hear('6');
  blink();
  assert.deepEqual(heard, ['6']);
  assert.deepEqual(told, ['bids lost', 'bids missed'], 'versions tell whether anything is missing');
  await answer(consumed(6));
  confirm();
  missed.lost();
  assert.deepEqual(told.slice(2), ['bids lost']);
});

test('nor behind what is passed on once reading has been given up', async (t) => {
  const { missed, hear, told } = await blinked(t);
  hear('6'.repeat(MAX_BYTES));
  assert.deepEqual(told, ['bids lost', 'bids missed']);
  assert.equal(missed.mayMiss('bids'), false, 'that has to be told');
  missed.lost();
  assert.deepEqual(told, ['bids lost', 'bids missed']);
});

test('a channel that is joined between two lost connections may have missed something: nothing is read for any', async (t) => {
  const { missed, hear, heard, told, reads, answer, listen } = await blinked(t);
  hear('7');
  listen('b');
  missed.lost();
  assert.deepEqual([heard, told], [['7'], ['bids lost', 'bids missed']]);
  missed.listens();
  await answer(consumed(6));
  assert.deepEqual([reads, missed.mayMiss('bids')], [[], false]);
});

test('what was held of a channel is not for who joins it anew', async (t) => {
  const { missed, hear, heard, answer, listen } = await blinked(t);
  hear('6');
  missed.left('bids', 'a');
  const later: string[] = [];
  listen('a', later);
  await answer(consumed(6));
  assert.deepEqual([heard, later], [[], []]);
});

test('what was held of a channel is for the listener that has taken the place of its first one', async (t) => {
  const { hear, heard, answer, listen } = await blinked(t);
  hear('6');
  const later: string[] = [];
  listen('a', later);
  await answer(consumed(2));
  assert.deepEqual([heard, later], [[], ['6']]);
});

test('a topic that is read anew has no more time than before', async (t) => {
  const { missed, hear, heard, told, pass } = await blinked(t);
  hear('7');
  await pass(5_000);
  missed.mayMiss('bids');
  await pass(5_000);
  missed.mayMiss('bids');
  await setImmediate();
  assert.deepEqual(told, ['bids lost']);
  await pass(5_000);
  assert.deepEqual([heard, told], [['7'], ['bids lost', 'bids certainly missed']]);
});

test('what is read once it is too late is passed on to nobody', async (t) => {
  const { hear, heard, answer } = await blinked(t);
  const read = await answer(consumed(6));
  const large = 'x'.repeat(MAX_BYTES);
  hear(large);
  read?.reader.passOn('a', '3');
  assert.deepEqual([heard, read?.signal.aborted], [[large], true]);
});

test('a publisher that tells of a loss while it is being read has all of it read anew', async (t) => {
  const { missed, hear, heard, told, answer } = await blinked(t);
  const first = await answer(consumed(6));
  hear('7');
  assert.equal(missed.mayMiss('bids'), true);
  assert.equal(first?.signal.aborted, true);
  const second = await answer(consumed(9));
  assert.deepEqual(second?.ranges, [{ ...RANGE, until: 9 }]);
  second.end();
  await setImmediate();
  assert.deepEqual([heard, told], [['7'], ['bids lost', 'bids read']]);
});

test('what is heard behind a heartbeat that is yet to be confirmed is not confirmed with it', async (t) => {
  const { missed, positions, answer, blink } = await setUp(t);
  positions(consumed(4));
  missed.heardBeat();
  positions(consumed(5));
  missed.confirm();
  blink();
  assert.deepEqual((await answer(consumed(6)))?.ranges, [{ ...RANGE, from: 4 }]);
});

test('a pod says nothing of its positions before what it publishes is heard', async (t) => {
  const { redis, sent, consume, beat, hearPositions } = await setUp(t);
  redis.isUsable = false;
  sent.length = 0;
  consume(consumed(7));
  beat();
  hearPositions('?other 7');
  assert.deepEqual(sent, []);
  redis.isUsable = true;
  beat();
  assert.equal(sent.length, 1);
});

for (const [what, happen] of [
  ['the server that was listened to was not that of the publishers', ({ missed }) => missed.doubt()],
  [
    'its partition has moved lately, and what its former publisher has published last may be elsewhere',
    ({ positions, confirm }) => {
      positions(consumed(8, { assignedAt: 9, start: 8 }));
      confirm();
    },
  ],
  ['that was just heard', ({ positions }) => positions(consumed(8, { assignedAt: 9, start: 8 }))],
] as const satisfies Happening[]) {
  test(`a topic is not held where ${what}: versions tell what may be missed`, async (t) => {
    const parts = await setUp(t);
    happen(parts);
    parts.missed.lost();
    parts.hear('9');
    assert.deepEqual([parts.heard, parts.told], [['9'], []]);
    assert.equal(parts.missed.mayMiss('bids'), false);
  });
}

test('a connection of this pod that is lost, and that Redis counts still, is not waited for', async (t) => {
  const { redis, answer, blink } = await setUp(t);
  redis.listeners = 2;
  redis.ownConnections = 2;
  blink();
  assert.deepEqual((await answer(consumed(6)))?.ranges, [RANGE]);
});

test('while the bus is paused, and no answer is read, none is missing', async (t) => {
  const { missed, pass, told, answer } = await blinked(t);
  missed.pause();
  await setImmediate();
  for (let times = 0; times < 10; times += 1) await pass(1_000);
  missed.resume();
  await setImmediate();
  assert.deepEqual((await answer(consumed(6)))?.ranges, [RANGE]);
  assert.deepEqual(told, ['bids lost']);
});

test('what arrives meanwhile is bounded', async (t) => {
  const { hear, heard, told } = await blinked(t);
  // A message takes some bytes more than its payload.
  const large = 'x'.repeat(0.45 * MAX_BYTES);
  hear(large);
  assert.deepEqual([heard.length, told], [0, ['bids lost']]);
  hear(large);
  assert.deepEqual([heard.length, told], [2, ['bids lost', 'bids missed']]);
});

for (const [what, options] of [
  ['a topic with history is read from it', { histories: new Map([['bids', {}]]) }],
  ['a pod that does not consume can not read', { isEdge: true }],
] as const) {
  test(`${what}, so that nothing is held`, async (t) => {
    const { hear, heard, told, missed } = await blinked(t, options);
    hear('7');
    assert.deepEqual([heard, told], [['7'], []]);
    assert.equal(missed.mayMiss('bids'), false);
  });
}

test('a publisher that tells what Redis may have lost is believed for two minutes behind a lost connection', async (t) => {
  const { missed, answer, pass, blink } = await setUp(t);
  assert.equal(missed.mayMiss('bids'), false, 'no connection was lost');
  blink();
  await answer(consumed(2));
  assert.equal(missed.mayMiss('bids'), true);
  assert.deepEqual((await answer(consumed(4)))?.ranges, [{ ...RANGE, until: 4 }]);
  (await answer(consumed(4)))?.end();
  await pass(120_001);
  assert.equal(missed.mayMiss('bids'), false);
});

test('a pod says where it stands when it changes, though it be assigned anew only, and to whoever asks', async (t) => {
  const { sent, consume, beat, hearPositions } = await setUp(t);
  sent.length = 0;
  consume(consumed(7));
  beat();
  beat();
  consume(consumed(7, { assignedAt: 9 }));
  beat();
  const said = writePositions(consumed(7, { assignedAt: 9 }));
  assert.deepEqual(sent, [`PUBLISH @positions ${writePositions(consumed(7))}`, `PUBLISH @positions ${said}`]);
  hearPositions('?other 7');
  assert.deepEqual(sent.slice(2), [`PUBLISH @pod:other @me 7 ${said}`]);
});

test('what is no answer is not taken for one', async (t) => {
  const { missed } = await setUp(t);
  assert.equal(missed.heard('beat'), false);
  assert.equal(missed.heard('@other 1 no JSON'), true);
});
