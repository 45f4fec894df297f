import assert from 'node:assert/strict';
import test from 'node:test';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { range } from '../../../helpers/numbers.ts';
import { NEXT_FRAMES } from '../../../../src/transports/websocket/frame.ts';
import { MAX_BATCH_BYTES, FrameBatchCache } from '../../../../src/transports/delivery/frame-batch.ts';

/** Writes the results to a socket. @returns the buffers that it was handed, and what they said */
function written(batches: FrameBatchCache, results: readonly SerializedResult[], id: string) {
  const buffers: Buffer[] = [];
  let text = '';
  const sink = {
    write(bytes: Buffer, length: number) {
      buffers.push(bytes);
      text += bytes.toString('latin1', 0, length);
    },
  };
  const queued = {
    format: NEXT_FRAMES,
    messages: results,
    ids: results.map(() => id),
    next: 0,
    written(next: number) {
      queued.next = next;
    },
  };
  while (queued.next < results.length) batches.write(queued, sink);
  return { buffers, said: [...text.matchAll(/"n":(\d+).*?"id":"(.*?)"/g)].map(([, n, to]) => `${n}→${to}`) };
}

function resultsOf(count: number, size: number): SerializedResult[] {
  return range(0, count).map((n) => new SerializedResult({ data: { n, text: 'x'.repeat(size) } }));
}

/** Each of these results, to that id. */
const all = (results: readonly SerializedResult[], id: string): string[] =>
  results.map((_, n) => `${n}→${id}`);

for (const [count, size, writes] of [
  [1, 100, 1],
  [40, 100, 1],
  [40, 10_000, 7],
] as const) {
  test(`${count} results of ${size} bytes: every socket after the second shares the bytes of a frame batch`, () => {
    const results = resultsOf(count, size);
    const batches = new FrameBatchCache();
    const sockets = ['a', 'b', 'c', 'd'].map((id) => {
      const socket = written(batches, results, id);
      assert.deepEqual(socket.said, all(results, id));
      assert.equal(socket.buffers.length, writes);
      return socket;
    });
    const [first, second, third, fourth] = sockets;
    for (const [at, buffer] of (second?.buffers ?? []).entries()) {
      assert.notEqual(buffer, first?.buffers[at]);
      assert.equal(buffer, third?.buffers[at]);
      assert.equal(buffer, fourth?.buffers[at]);
    }
  });
}

test('no more than 16 frame batches are kept, and the bytes of those beyond are right too', () => {
  const batches = new FrameBatchCache();
  const results = resultsOf(17, MAX_BATCH_BYTES - 100);
  const kept = (count: number): boolean => {
    const some = results.slice(0, count);
    const [first, second, third] = ['a', 'b', 'c'].map((id) => {
      const socket = written(batches, some, id);
      assert.deepEqual(socket.said, all(some, id));
      return socket.buffers[0];
    });
    batches.clear();
    return second !== first && second === third;
  };
  assert.equal(kept(16), true);
  assert.equal(kept(17), false);
});

test('a result of the largest size of a frame batch is sent under an id of any length', () => {
  const batches = new FrameBatchCache();
  const results = resultsOf(1, MAX_BATCH_BYTES - 100);
  for (const id of ['a', 'a'.repeat(5_000), 'b'.repeat(5_000)]) {
    assert.deepEqual(written(batches, results, id).said, all(results, id));
    batches.clear();
    assert.deepEqual(written(batches, results, id).said, all(results, id));
  }
});
