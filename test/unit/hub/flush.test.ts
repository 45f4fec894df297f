import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Flusher } from '../../../src/hub/flush.ts';
import { Outbox } from '../../../src/hub/outbox.ts';
import { Payload } from '../../../src/hub/payload.ts';
import { FakeWire } from '../../helpers/fake-wire.ts';

test('the delay of an event is taken when its results have been written', async () => {
  const delays: number[] = [];
  const flusher = new Flusher(
    () => 5_000,
    (seconds) => delays.push(seconds),
  );
  const wire = new FakeWire();
  flusher.timed(1_000);
  new Outbox(wire, wire, flusher, 1_000).add(new Payload({ data: {} }), '1');
  flusher.timed(4_750);
  assert.deepEqual(delays, []);
  await setImmediate();
  assert.equal(wire.writes.length, 1);
  assert.deepEqual(delays, [0.25]);
});
