import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { range } from '../../helpers/numbers.ts';
import { backend } from './fixture.ts';

const ANSWERS = 100;

/** Small enough to be read at once, and takes a millisecond or so to parse. */
const WIDE = JSON.stringify(Object.fromEntries(range(0, 4_000).map((index) => [`key_${index}`, index])));

/** Turns of the event loop in which what is there of the answers is read. */
const READING_TURNS = 50;

const LEAST_TURNS = 8;

test('large answers that come together are parsed in several turns of the event loop', async (t) => {
  const held: ServerResponse[] = [];
  const { api, server } = await backend(
    t,
    (response) => {
      response.setHeader('content-length', WIDE.length);
      // All but the end of it, so that all can end together.
      response.write(WIDE.slice(0, -1));
      held.push(response);
    },
    { maxConcurrency: ANSWERS },
  );
  let turn = 0;
  const counted = new Set<number>();
  const calls = range(0, ANSWERS).map(async (index) => {
    await api.get(`/${index}`);
    counted.add(turn);
  });
  while (held.length < ANSWERS) await once(server.events, 'request');
  for (const _ of range(0, READING_TURNS)) await nextTurn();
  const over = Promise.all(calls).then(() => true);
  for (const response of held) response.end(WIDE.slice(-1));
  while (!(await Promise.race([over, nextTurn(false)]))) turn += 1;
  assert.ok(counted.size >= LEAST_TURNS, `expected ${LEAST_TURNS} turns or more, got ${counted.size}`);
});
