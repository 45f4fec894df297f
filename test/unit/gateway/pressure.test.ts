import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { loadConfig } from '../../../src/config/config.ts';
import type { Basics } from '../../../src/gateway/basics.ts';
import { createPressure } from '../../../src/gateway/pressure.ts';
import { Metrics } from '../../../src/metrics.ts';
import { PressureLevel } from '../../../src/pressure/pressure-level.ts';
import { readableLog } from '../ingest/parts.ts';

/** What is logged at a start with these settings. */
function messagesWith(t: TestContext, env: Record<string, string>): unknown[] {
  const { log, lines } = readableLog();
  const parts = {
    config: loadConfig(env),
    processes: 1,
    pressure: new PressureLevel(),
    metrics: new Metrics(),
  };
  const pressure = createPressure({ ...parts, log } as Partial<Basics> as Basics, {
    copiedBytes: 0,
    shed: () => 0,
  });
  t.after(() => pressure.stop());
  pressure.start();
  return lines.map(({ msg }) => msg);
}

test('a memory limit that the process has reached at its start is warned of', (t) => {
  const [message, ...others] = messagesWith(t, { MEMORY_LIMIT_MB: '40' });
  assert.match(
    String(message),
    /^MEMORY_LIMIT_MB: expected at least \d+ MB for each process, as this one takes \d+ MB at its start, got 40 MB/,
  );
  assert.deepEqual(others, []);
  assert.deepEqual(messagesWith(t, { MEMORY_LIMIT_MB: '100000' }), []);
  assert.deepEqual(messagesWith(t, { MEMORY_LIMIT_MB: '40', PRESSURE: 'false' }), []);
});
