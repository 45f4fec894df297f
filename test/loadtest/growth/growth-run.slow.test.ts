import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { measureGrowth } from '../../../loadtest/growth/growth-run.ts';
import { STANDARD_LOAD } from '../../../loadtest/run/load-options.ts';
import { needs } from '../../helpers/services.ts';

const SOCKETS = 20;

/** Each has pods and a Redis of its own, and waits most of the time. */
describe('growth', { concurrency: 3 }, () => {
  for (const [name, channels, masters, messages] of [
    ['An event to all comes to each of two pods once', 0, 0, 2],
    ['An event to one of two pods comes to that one', SOCKETS, 0, 1],
    ['An event to one of two pods comes to that one by way of a cluster of two masters', SOCKETS, 2, 1],
  ] as const) {
    it(name, needs('kafka', 'kcat', 'redis-server'), async (t) => {
      // Pods beat once a second: one idle second may be without.
      const load = { ...STANDARD_LOAD, pods: 2, sockets: SOCKETS, channels, rate: 50, floodSeconds: 2 };
      const { idle, perEvent, joinDelay, faults } = await measureGrowth(load, masters, t.signal);
      assert.deepEqual(faults, []);
      assert.equal(perEvent.messages, messages);
      assert.equal(perEvent.sentBytes.length, Math.max(1, masters));
      assert.ok(joinDelay > 0, `expected a delay, got ${joinDelay} ms`);
      assert.ok(idle.redisCommands > 0, `expected heartbeats, got ${idle.redisCommands} commands a second`);
    });
  }
});
