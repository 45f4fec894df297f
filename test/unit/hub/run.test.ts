import assert from 'node:assert/strict';
import test from 'node:test';
import { Payload } from '../../../src/hub/payload.ts';
import { Runs } from '../../../src/hub/run.ts';

/** Writes the results to so many sockets. @returns for each of them what it was handed, and the buffers */
function written(payloads: readonly Payload[], ids: readonly string[]) {
  const runs = new Runs();
  return ids.map((id) => {
    const buffers: Buffer[] = [];
    let text = '';
    const queued = { payloads, ids: payloads.map(() => id) };
    for (let from = 0; from < payloads.length;) {
      from = runs.write(queued, from, (bytes, length) => {
        buffers.push(bytes);
        text += bytes.toString('latin1', 0, length);
      });
    }
    return {
      buffers,
      said: [...text.matchAll(/"n":(\d+).*?"id":"(.*?)"/g)].map(([, n, to]) => `${n}→${to}`),
    };
  });
}

for (const [count, size, writes] of [
  [1, 100, 1],
  [40, 100, 1],
  [40, 10_000, 7],
] as const) {
  test(`${count} results of ${size} bytes: whoever is sent them after the second shares its bytes`, () => {
    const payloads = Array.from(
      { length: count },
      (_, n) => new Payload({ data: { n, text: 'x'.repeat(size) } }),
    );
    const sockets = written(payloads, ['a', 'b', 'c', 'd']);
    for (const [index, { buffers, said }] of sockets.entries()) {
      const id = ['a', 'b', 'c', 'd'][index];
      assert.deepEqual(
        said,
        payloads.map((_, n) => `${n}→${id}`),
      );
      assert.equal(buffers.length, writes);
    }
    const [first, second, third, fourth] = sockets;
    for (const [at, buffer] of (second?.buffers ?? []).entries()) {
      assert.notEqual(buffer, first?.buffers[at]);
      assert.equal(buffer, third?.buffers[at]);
      assert.equal(buffer, fourth?.buffers[at]);
    }
  });
}
