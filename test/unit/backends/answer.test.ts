import assert from 'node:assert/strict';
import test from 'node:test';
import type { Dispatcher } from 'undici';
import { readAnswer } from '../../../src/backends/answer.ts';
import { ownBytes } from '../../../src/support/byte-budget.ts';

test('an answer keeps none of its chunks, which may be of a byte each and take a hundred times as much', async () => {
  const json = JSON.stringify('x'.repeat(100_000));
  const chunk = new Uint8Array(1);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    // One that is kept would be overwritten.
    for (const byte of Buffer.from(json)) yield chunk.fill(byte);
  }
  const body = chunks() as unknown as Dispatcher.ResponseData['body'];
  const room = { bytes: ownBytes(1_000_000), owner: {}, maxBytes: 1_000_000 };
  const response = { headers: {}, body } as Dispatcher.ResponseData;
  const { text, reserved } = await readAnswer(response, room, new AbortController().signal);
  assert.ok(text === json, `got ${text.length} characters: ${text.slice(0, 20)}`);
  assert.equal(reserved.bytes, json.length);
});
