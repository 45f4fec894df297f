import assert from 'node:assert/strict';
import test from 'node:test';
import { Payload } from '../../../../src/hub/result.ts';
import { LARGEST_RUN, Runs } from '../../../../src/transports/websocket/frame-batch.ts';

/** What one socket was handed: the buffers, and what they said. */
interface Handed {
  readonly buffers: readonly Buffer[];
  readonly said: readonly string[];
}

/** Writes the results to a socket. */
function written(runs: Runs, payloads: readonly Payload[], id: string): Handed {
  const buffers: Buffer[] = [];
  let text = '';
  const taker = {
    write(bytes: Buffer, length: number) {
      buffers.push(bytes);
      text += bytes.toString('latin1', 0, length);
    },
  };
  const queued = {
    payloads,
    ids: payloads.map(() => id),
    next: 0,
    written(next: number) {
      queued.next = next;
    },
  };
  while (queued.next < payloads.length) runs.write(queued, taker);
  return { buffers, said: [...text.matchAll(/"n":(\d+).*?"id":"(.*?)"/g)].map(([, n, to]) => `${n}→${to}`) };
}

function results(count: number, size: number): Payload[] {
  return Array.from({ length: count }, (_, n) => new Payload({ data: { n, text: 'x'.repeat(size) } }));
}

/** Each of these results, to that id. */
const all = (payloads: readonly Payload[], id: string): string[] => payloads.map((_, n) => `${n}→${id}`);

for (const [count, size, writes] of [
  [1, 100, 1],
  [40, 100, 1],
  [40, 10_000, 7],
] as const) {
  test(`${count} results of ${size} bytes: whoever is sent them after the second shares its bytes`, () => {
    const payloads = results(count, size);
    const runs = new Runs();
    const sockets = ['a', 'b', 'c', 'd'].map((id) => {
      const socket = written(runs, payloads, id);
      assert.deepEqual(socket.said, all(payloads, id));
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

test('no more than 16 runs are kept, and those beyond are right too', () => {
  const runs = new Runs();
  const payloads = results(17, LARGEST_RUN - 100);
  const kept = (count: number): boolean => {
    const some = payloads.slice(0, count);
    const [first, second, third] = ['a', 'b', 'c'].map((id) => {
      const socket = written(runs, some, id);
      assert.deepEqual(socket.said, all(some, id));
      return socket.buffers[0];
    });
    runs.clear();
    return second !== first && second === third;
  };
  assert.equal(kept(16), true);
  assert.equal(kept(17), false);
});

test('a result as large as a run may be goes out under an id of any length', () => {
  const runs = new Runs();
  const payloads = results(1, LARGEST_RUN - 100);
  for (const id of ['a', 'a'.repeat(5_000), 'b'.repeat(5_000)]) {
    assert.deepEqual(written(runs, payloads, id).said, all(payloads, id));
    runs.clear();
    assert.deepEqual(written(runs, payloads, id).said, all(payloads, id));
  }
});
