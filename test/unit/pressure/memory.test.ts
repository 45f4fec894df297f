import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { test } from 'node:test';
import { Memory } from '../../../src/pressure/memory.ts';

const MB = 2 ** 20;

test('processes have equal parts of the limit; without one, that of the container or of the machine holds', () => {
  assert.equal(new Memory(1_000, 1).limit, 1_000 * MB);
  assert.equal(new Memory(1_000, 4).limit, 250 * MB);
  const { limit } = new Memory(0, 1);
  assert.ok(limit > 0 && limit <= totalmem(), `${limit}`);
});

test('both figures are shares of the limit', () => {
  const limitMb = 1_000_000;
  const { memory, resident } = new Memory(limitMb, 1).sample();
  const rss = process.memoryUsage.rss();
  assert.ok(memory > 0 && memory <= (1.5 * rss) / (limitMb * MB), `${memory}`);
  assert.ok(resident > 0 && resident <= (1.5 * rss) / (limitMb * MB), `${resident}`);
  const tight = new Memory(1, 1).sample();
  assert.ok(tight.memory > 1 && tight.resident > 1, JSON.stringify(tight));
});

test('a limit is short where what the process holds is too large a share of it, with some room', () => {
  const shortage = new Memory(40, 1).shortage(0.5);
  assert.ok(shortage !== undefined && shortage.least === 2 * (shortage.held + 32 * MB));
  assert.equal(new Memory(1_000_000, 1).shortage(0.5), undefined);
  assert.ok(new Memory(1_000_000, 100_000).shortage(0.5) !== undefined);
});

test('buffers outside of the heap count', () => {
  const limitMb = 1_000;
  const measured = new Memory(limitMb, 1);
  const before = measured.sample().memory;
  const held = Buffer.alloc(200 * MB, 1);
  const after = measured.sample().memory;
  assert.ok(after - before > 0.1, `expected ${held.length} bytes more than ${before}, got ${after}`);
});
