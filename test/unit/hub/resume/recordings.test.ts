import assert from 'node:assert/strict';
import test from 'node:test';
import { bytesOf, NoHistory, type HistoryBounds, type HistoryRead } from '../../../../src/bus/history.ts';
import { decodeMessage, type Message } from '../../../../src/events/message.ts';
import { ChannelOffsets } from '../../../../src/hub/dedupe.ts';
import { Recordings } from '../../../../src/hub/resume/recordings.ts';
import type { RecordedChannel } from '../../../../src/hub/resume/recording-request.ts';
import { ByteBudget, ownBytes, type ByteSource } from '../../../../src/support/byte-budget.ts';
import { upTo } from '../../../helpers/numbers.ts';
import { settled, turns } from '../parts.ts';
import { payloadOf, wishOf } from './world.ts';

const BEGINNING = { epoch: 'abc', sequence: 0 };

/** Takes a third of the bytes that are read first. */
const EVENT = payloadOf(1, { text: 'x'.repeat(5_000) }, { h: ['abc', 1] });

/** More than is read first. */
const EVENTS = upTo(20).map((n) => payloadOf(n, { text: 'x'.repeat(5_000) }, { h: ['abc', n] }));

const channelOf = (name: string): RecordedChannel => ({
  name,
  offsets: new ChannelOffsets(),
  recording: undefined,
});

interface Question {
  readonly names: readonly string[];
  readonly since: number;
  readonly bounds: HistoryBounds;
}

/**
 * Recordings of a bus that has kept some events of each channel.
 *
 * @param onRead called at each question
 * @param events that are kept of a channel
 */
function setUp(onRead: (question: Question) => unknown, room?: ByteSource, events = [EVENT]) {
  const recordings = new Recordings({
    readHistory: async (_topic, names, since, bounds): Promise<HistoryRead> => {
      await onRead({ names, since, bounds });
      await settled();
      let left = bounds.maxBytes;
      const channels = names.map((channel) => {
        const messages: string[] = [];
        for (const one of events.toReversed().slice(0, bounds.last)) {
          left -= bytesOf(one);
          if (left >= 0) messages.unshift(one);
        }
        return { channel, from: events.length - messages.length, isAll: messages.length === 1, messages };
      });
      return { position: { epoch: 'abc', sequence: events.length }, size: 10, isCut: left < 0, channels };
    },
    room,
    afterWaiting: (callback) => callback(),
    decode: decodeMessage,
  });
  return { recordings, a: channelOf('a'), b: channelOf('b') };
}

/** Room for the bytes that are read first, of one owner and of two. */
const twoOwners = (): ByteSource => new ByteBudget(32_768).source({ least: 32_768, mostOfOwner: 16_384 });

test('what is in use makes no room for further channels: they wait until it is released', async () => {
  const read: string[] = [];
  const room = ownBytes(17_500);
  const { recordings, a, b } = setUp(({ names }) => read.push(...names), room);
  await recordings.open('bids', [a], wishOf(0));
  assert.equal(room.held, bytesOf(EVENT));
  let isOpen = false;
  const opening = recordings.open('bids', [b], wishOf(0)).then(() => (isOpen = true));
  await turns(10);
  assert.deepEqual([read, isOpen], [['a'], false]);
  recordings.release([a]);
  await opening;
  assert.deepEqual(read, ['a', 'b']);
  assert.equal(a.recording, undefined, 'what is not in use makes room');
  assert.equal(b.recording?.covers(BEGINNING), true);
  recordings.release([b]);
});

test('what is published again without a history, or in its next epoch, is a copy where the channel’s history was read, and has it', async () => {
  const { recordings, a } = setUp(() => undefined, undefined, EVENTS.slice(0, 3));
  await recordings.open('bids', [a], wishOf(0));
  const see = (n: number, h?: [string, number]) => {
    const message = decodeMessage(payloadOf(n, {}, { h }));
    assert.ok(message);
    return a.offsets.see(message);
  };
  assert.deepEqual([see(1), see(3), see(2, ['def', 1])], ['seen', 'seen', 'seen']);
  assert.deepEqual(
    [see(3, ['abc', 3]), see(4)],
    ['new', 'new'],
    'what is on its way since before it was read',
  );
  recordings.release([a]);
});

const at = (o: number, epoch: string, p = 0) => ({ p, o, h: [epoch, o] }) as const;

test('what was read in one epoch and comes again in the next is a copy, even after the history was read there', () => {
  const { offsets } = channelOf('a');
  offsets.note(at(3, 'abc'));
  offsets.note(at(9, 'abc', 1));
  offsets.note(at(5, 'def'));
  const verdicts = [at(3, 'def'), at(9, 'def', 1), at(5, 'ghi'), at(4, 'abc')].map((one) => offsets.see(one));
  assert.deepEqual(verdicts, ['seen', 'seen', 'seen', 'seen']);
  assert.deepEqual([offsets.see(at(4, 'def')), offsets.see(at(10, 'def', 1))], ['new', 'new']);
});

test('what was read in one epoch and comes again is a copy, though the history of the next one had not reached it', () => {
  const { offsets } = channelOf('a');
  for (const [o, epoch] of [
    [9, 'abc'],
    [7, 'def'],
    [1, 'ghi'],
  ] as const)
    offsets.note(at(o, epoch, epoch === 'ghi' ? 1 : 0));
  assert.deepEqual([offsets.see(at(9, 'ghi')), offsets.see(at(10, 'ghi'))], ['seen', 'new']);
});

test('what nobody uses is dropped for others, before its time is over', async () => {
  const room = ownBytes(17_500);
  const { recordings, a, b } = setUp(() => undefined, room);
  await recordings.open('bids', [a], wishOf(0));
  recordings.release([a]);
  await turns(10);
  assert.equal(a.recording?.covers(BEGINNING), true);
  await recordings.open('bids', [b], wishOf(0));
  assert.deepEqual([a.recording, room.held], [undefined, bytesOf(EVENT)]);
});

test('an owner whose share is used up holds up no other', async () => {
  const { recordings, a, b } = setUp(() => undefined, twoOwners());
  const [greedy, other] = [{}, {}];
  await recordings.open('bids', [a], wishOf(0, greedy));
  const waiting = [channelOf('c'), channelOf('d')].map((one) =>
    recordings.open('bids', [one], wishOf(0, greedy)),
  );
  await recordings.open('bids', [b], wishOf(0, other));
  assert.equal(b.recording?.covers(BEGINNING), true);
  recordings.release([a]);
  await Promise.all(waiting);
});

test('those who lack about the same are read at once, a far older cursor by itself', async () => {
  const questions: Question[] = [];
  const { recordings } = setUp((question) => questions.push(question));
  const owner = {};
  const open = (name: string, ...wish: Parameters<typeof wishOf>): Promise<void> =>
    recordings.open('bids', [channelOf(name)], wishOf(...wish));
  await Promise.all([
    open('a', 10_000, owner),
    open('b', 9_900, owner),
    open('old', 5_000, owner),
    open('other', 10_000, {}),
    open('last', 10_000, owner, { last: 3 }),
  ]);
  const asked = questions.map(
    ({ names, since, bounds: { last = 'all' } }) => `${names.join()} ${since} ${last}`,
  );
  assert.deepEqual(asked, ['a,b,other 9644 all', 'old 4744 all', 'last 0 3']);
});

test('the bus is never asked for more than is reserved, and for more than at first only where that is too little', async () => {
  const room = ownBytes(500_000);
  const asked: number[] = [];
  const onRead = ({ bounds: { maxBytes } }: Question): void => {
    assert.equal(room.held, maxBytes);
    asked.push(maxBytes);
  };
  const { recordings, a } = setUp(onRead, room, EVENTS);
  await recordings.open('bids', [a], wishOf(0));
  assert.deepEqual(asked, [16_384, 65_536, 262_144]);
  assert.equal(a.recording?.covers(BEGINNING), true);
  const bytes = EVENTS.reduce((sum, one) => sum + bytesOf(one), 0);
  assert.equal(room.held, bytes);
});

test('of what is more than the owner’s share nothing is recorded, and nothing stays reserved', async () => {
  const room = ownBytes(17_500);
  const { recordings, a } = setUp(() => undefined, room, EVENTS);
  await recordings.open('bids', [a], wishOf(0));
  assert.deepEqual([a.recording?.covers(BEGINNING), room.held], [false, 0]);
  recordings.release([a]);
});

test('of the last messages those are recorded that fit', async () => {
  const room = ownBytes(17_500);
  const { recordings, a } = setUp(() => undefined, room, EVENTS);
  await recordings.open('bids', [a], wishOf(0, {}, { last: 5 }));
  assert.deepEqual([a.recording?.hasLast(3, 'abc'), a.recording?.hasLast(5, 'abc')], [true, false]);
  assert.equal(a.recording?.behind(0)?.sequence, 18);
});

test('what is more than the owner’s share together, and not by itself, is read one by one', async () => {
  const room = ownBytes(17_500);
  const { recordings } = setUp(() => undefined, room);
  const owner = {};
  const channels = upTo(9).map((n) => channelOf(`c${n}`));
  await Promise.all(
    channels.map(async (channel) => {
      await recordings.open('bids', [channel], wishOf(0, owner));
      assert.equal(channel.recording?.covers(BEGINNING), true);
      recordings.release([channel]);
    }),
  );
});

test('a subscriber that leaves waits for no room any more', async () => {
  const read: string[] = [];
  const room = ownBytes(17_500);
  const { recordings, a, b } = setUp(({ names }) => read.push(...names), room);
  await recordings.open('bids', [a], wishOf(0));
  const leaving = new AbortController();
  const opening = recordings.open('bids', [b], wishOf(0, {}, { leaving: leaving.signal }));
  await turns(10);
  assert.equal(room.waiting, 1);
  leaving.abort(new Error('left'));
  await assert.rejects(opening, /left/);
  await turns(10);
  recordings.release([a]);
  assert.deepEqual([read, room.waiting], [['a'], 0]);
});

test('a channel carries what there is no room for: it is recorded no more, and can be read again', async () => {
  const room = ownBytes(17_500);
  const { recordings, a } = setUp(() => undefined, room);
  await recordings.open('bids', [a], wishOf(0));
  const recording = a.recording ?? assert.fail();
  for (const n of [2, 3, 4]) {
    recording.add(decodeMessage(payloadOf(n, {}, { h: ['abc', n] })) as Message, 5_000);
  }
  assert.deepEqual([recording.isBroken, recording.isMissing, room.held], [true, false, 0]);
  assert.equal(recording.reaches(1), false);
  await recordings.open('bids', [a], wishOf(0));
  assert.equal(a.recording?.covers(BEGINNING), true);
});

test('a recording is there for those who come within five seconds of its last use, and gone then', async (t) => {
  const read: string[] = [];
  const { recordings, a } = setUp(({ names }) => read.push(...names));
  await recordings.open('bids', [a], wishOf(0));
  await turns(10);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  recordings.release([a]);
  t.mock.timers.tick(4_999);
  await recordings.open('bids', [a], wishOf(0));
  t.mock.timers.tick(5_000);
  assert.equal(a.recording?.covers(BEGINNING), true, 'it is in use');
  recordings.release([a]);
  t.mock.timers.tick(5_000);
  assert.deepEqual([read, a.recording], [['a'], undefined]);
});

test('a channel that is interrupted at each question is given up', async () => {
  let questions = 0;
  const { recordings, a } = setUp(() => {
    questions += 1;
    a.recording?.break();
  });
  await assert.rejects(recordings.open('bids', [a], wishOf(0)), NoHistory);
  assert.equal(questions, 5);
});
