import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { stopOnSignal } from '../../../src/cli/signals.ts';
import { createLog } from '../../../src/log.ts';

/** A process with a pod that never ends by itself. The test sends the signals, and lets the time pass between them. */
function setUp(t: TestContext) {
  const listeners = new Map<string, () => void>();
  t.mock.method(process, 'on', (signal: string, listener: () => void) => listeners.set(signal, listener));
  const exits: unknown[] = [];
  t.mock.method(process, 'exit', (code: unknown) => exits.push(code));
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const begun: string[] = [];
  const endless = (what: string) => () => {
    begun.push(what);
    return new Promise<void>(() => undefined);
  };
  const pod = { drain: endless('drain'), stop: endless('stop'), reload: () => undefined };
  stopOnSignal(() => pod, createLog('silent'));
  const send = (signal: string, atMs: number): void => {
    now = atMs;
    listeners.get(signal)?.();
  };
  return { exits, begun, send };
}

for (const [first, begins] of [
  ['SIGTERM', 'drain'],
  ['SIGINT', 'stop'],
] as const) {
  for (const second of ['SIGTERM', 'SIGINT']) {
    test(`${second}, a second or more after ${first}, ends the process at once, and is the same signal before that`, (t) => {
      const { exits, begun, send } = setUp(t);
      send(first, 0);
      send(second, 999);
      assert.deepEqual([begun, exits], [[begins], []]);
      send(second, 1_000);
      assert.deepEqual(exits, [1]);
    });
  }
}
