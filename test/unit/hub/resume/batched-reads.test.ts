import assert from 'node:assert/strict';
import test from 'node:test';
import { bytesOf, type HistoryRead } from '../../../../src/bus/history.ts';
import { BatchedReads } from '../../../../src/hub/resume/batched-reads.ts';

const MESSAGE = 'x'.repeat(1_000);

/** A bus that has kept so many messages of each channel. */
function setUp(kept: Readonly<Record<string, number>>) {
  const asked: [names: string, since: number, maxBytes: number][] = [];
  const reads = new BatchedReads(async (_topic, names, since, { maxBytes }): Promise<HistoryRead> => {
    asked.push([names.join(), since, maxBytes]);
    const channels = names.map((channel) => {
      const messages = Array.from({ length: kept[channel] ?? 0 }, () => MESSAGE);
      return { channel, from: 0, isAll: true, messages };
    });
    const bytes = channels.flatMap(({ messages }) => messages).length * bytesOf(MESSAGE);
    return { position: { epoch: 'e', sequence: 9 }, size: 10, isCut: bytes > maxBytes, channels };
  });
  const read = async (name: string, since: number): Promise<string> => {
    const { channels, isCut } = await reads.read('bids', [name], since, { maxBytes: 4_000 });
    return `${channels.map(({ channel }) => channel).join()} ${isCut ? 'cut' : 'whole'}`;
  };
  return { asked, read };
}

test('reads of one turn are one, with the bytes of all and as far back as any, and each gets its own channels', async () => {
  const { asked, read } = setUp({ a: 1, b: 2, c: 3 });
  const all = await Promise.all([read('a', 5), read('b', 3), read('c', 900)]);
  assert.deepEqual([all, asked], [['a whole', 'b whole', 'c whole'], [['a,b,c', 3, 12_000]]]);
});

test('one that lacks more than it has reserved is told so, though the others have left room', async () => {
  const { asked, read } = setUp({ a: 1, b: 5, c: 1 });
  const all = await Promise.all([read('a', 0), read('b', 0), read('c', 0)]);
  assert.deepEqual([all, asked.length], [['a whole', 'b cut', 'c whole'], 1]);
});

test('where one lacks more than all have reserved, each is read by itself', async () => {
  const { asked, read } = setUp({ a: 1, b: 50 });
  const all = await Promise.all([read('a', 0), read('b', 0)]);
  assert.deepEqual(all, ['a whole', 'b cut']);
  const names = asked.map(([joined]) => joined);
  assert.deepEqual(names, ['a,b', 'a', 'b']);
});

test('far older positions are read by themselves, and so are reads of later turns', async () => {
  const { asked, read } = setUp({ a: 1, b: 1 });
  await Promise.all([read('a', 5_000), read('b', 10)]);
  await read('a', 5_000);
  assert.deepEqual(asked, [
    ['a', 5_000, 4_000],
    ['b', 10, 4_000],
    ['a', 5_000, 4_000],
  ]);
});
