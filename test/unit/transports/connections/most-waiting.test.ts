import assert from 'node:assert/strict';
import test from 'node:test';
import { mostWaiting } from '../../../../src/transports/connections/most-waiting.ts';

const waiting = (kilobytes: number, open = true) => ({
  open,
  sendQueue: { waitingBytes: kilobytes * 1024 },
});

test('a third of the sockets for which much waits is taken, those for which most waits', () => {
  const sockets = [70, 900, 80, 1, 300, 0, 200, 64, 90].map((kilobytes) => waiting(kilobytes));
  const taken = mostWaiting(sockets).map(({ sendQueue }) => sendQueue.waitingBytes / 1024);
  assert.deepEqual(taken, [900, 300]);
});

test('a single socket for which much waits is taken', () => {
  assert.equal(mostWaiting([waiting(1), waiting(65), waiting(2)]).length, 1);
});

test('a socket that is closing already is not taken again', () => {
  assert.deepEqual(mostWaiting([waiting(500, false)]), []);
});

test('sockets whose clients keep up are spared', () => {
  assert.deepEqual(mostWaiting([waiting(0), waiting(64)]), []);
});
