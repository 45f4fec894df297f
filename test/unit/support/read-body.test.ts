import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { readBody } from '../../../src/support/read-body.ts';
import { serveHttp } from '../../helpers/local-server.ts';

const MAX_BYTES = 262_144;

/** What the buffers of two sockets may hold beyond what is read. */
const BUFFERED_BYTES = 16 * 1_048_576;

test('an answer that never ends is left, and its connection closed, once it is longer than it may be', async (t) => {
  let left: Promise<unknown> | undefined;
  let written = 0;
  const write = (response: ServerResponse): void => {
    const piece = Buffer.alloc(65_536);
    do written += piece.length;
    while (!response.destroyed && response.write(piece));
  };
  const url = await serveHttp(t, (_, response) => {
    left = once(response, 'close');
    response.on('drain', () => write(response));
    write(response);
  });
  const response = await fetch(url);
  await assert.rejects(readBody(response, MAX_BYTES), /expected at most 262144 bytes, got more/);
  await left;
  assert.ok(written < MAX_BYTES + BUFFERED_BYTES, `expected few bytes to be written, got ${written}`);
});
