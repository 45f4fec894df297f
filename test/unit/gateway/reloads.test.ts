import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Reloads } from '../../../src/gateway/reloads.ts';
import { createLog } from '../../../src/log.ts';
import { Metrics } from '../../../src/metrics.ts';

test('reloads run one at a time, and those that are asked for meanwhile are one that follows', async () => {
  const ends: (() => void)[] = [];
  const metrics = new Metrics();
  const reload = (): Promise<object> => new Promise((resolve) => ends.push(() => resolve({})));
  const reloads = new Reloads({ reload, metrics, log: createLog('silent') });
  const asked = [reloads.request(), reloads.request(), reloads.request()];
  assert.equal(ends.length, 1);
  ends[0]?.();
  await turn();
  assert.equal(ends.length, 2);
  ends[1]?.();
  await Promise.all(asked);
  assert.equal(ends.length, 2);
  assert.match(await metrics.registry.metrics(), /graph_reloads_total\{outcome="done"\} 2/);
  void reloads.request();
  assert.equal(ends.length, 3);
});

test('what a reload throws is told and counted, and the next one is tried', async () => {
  const lines: string[] = [];
  const metrics = new Metrics();
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const results = [Promise.reject(new Error('on purpose')), Promise.resolve({ kept: 1 })];
  const reloads = new Reloads({ reload: async () => (await results.shift()) ?? {}, metrics, log });
  assert.match(await metrics.registry.metrics(), /graph_reloads_total\{outcome="refused"\} 0/);
  await reloads.request();
  await reloads.request();
  assert.match(lines.join(''), /on purpose.*can not be reloaded.*has been reloaded/s);
  assert.match(await metrics.registry.metrics(), /graph_reloads_total\{outcome="refused"\} 1/);
  assert.match(await metrics.registry.metrics(), /graph_reloads_total\{outcome="done"\} 1/);
});
