import assert from 'node:assert/strict';
import test from 'node:test';
import { NoHistory, type HistoryPosition } from '../../../../src/bus/history.ts';
import { decodeMessage } from '../../../../src/events/message.ts';
import { Recordings, type RecordedChannel } from '../../../../src/hub/resume/recordings.ts';
import { settled } from '../parts.ts';
import { payloadOf } from './world.ts';

const BEGINNING: HistoryPosition = { epoch: 'abc', sequence: 0 };

const EVENT = payloadOf(1, {}, { h: ['abc', 1] });

const channelOf = (name: string): RecordedChannel => ({ name, recording: undefined });

/** Recordings of a bus that has kept one event of each channel. @param onRead called at each question */
function setUp(onRead: (names: readonly string[]) => void, maxBytes?: number) {
  const recordings = new Recordings(
    {
      readHistory: async (_topic, names) => {
        onRead(names);
        await settled();
        const position = { epoch: 'abc', sequence: 1 };
        const channels = names.map((channel) => ({ channel, from: 0, messages: [EVENT] }));
        return { position, size: 10, channels };
      },
      afterWaiting: (callback) => callback(),
      decode: decodeMessage,
    },
    maxBytes,
  );
  return { recordings, a: channelOf('a'), b: channelOf('b') };
}

test('beyond the bytes that may be recorded, further channels wait until others are released', async () => {
  const read: string[] = [];
  const { recordings, a, b } = setUp((names) => read.push(...names), EVENT.length - 1);
  await recordings.open('bids', [a], BEGINNING);
  let isOpen = false;
  const opening = recordings.open('bids', [b], BEGINNING).then(() => (isOpen = true));
  for (let turns = 0; turns < 5; turns += 1) await settled();
  assert.deepEqual([read, isOpen], [['a'], false]);
  recordings.release([a]);
  await opening;
  assert.deepEqual(read, ['a', 'b']);
  assert.equal(a.recording, undefined, 'what is not in use makes room');
  assert.equal(b.recording?.covers(BEGINNING), true);
  recordings.release([b]);
});

test('a recording is there for those who come within five seconds of its last use, and gone then', async (t) => {
  const read: string[] = [];
  const { recordings, a } = setUp((names) => read.push(...names));
  await recordings.open('bids', [a], BEGINNING);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  recordings.release([a]);
  t.mock.timers.tick(4_999);
  await recordings.open('bids', [a], BEGINNING);
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
  await assert.rejects(recordings.open('bids', [a], BEGINNING), NoHistory);
  assert.equal(questions, 5);
});
