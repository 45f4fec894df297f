import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Log } from '../../../src/log.ts';
import { OriginRefusals } from '../../../src/server/origin-refusals.ts';

const MINUTE = 60_000;
const ORIGINS = 1_000_000;

function setUp() {
  const clock = { now: 0 };
  const lines: { origin: string; suppressed: number }[] = [];
  const counted: string[] = [];
  const log = { warn: (line: (typeof lines)[number]) => void lines.push(line) } as unknown as Log;
  const refusals = new OriginRefusals({
    metrics: { refused: (reason) => void counted.push(reason) },
    log,
    now: () => clock.now,
  });
  return { clock, lines, counted, refusals };
}

describe('OriginRefusals', () => {
  it('counts each refusal, and logs each origin once a minute, with what was left out', () => {
    const { clock, lines, counted, refusals } = setUp();
    for (let times = 0; times < 3; times += 1) refusals.add('https://a.example');
    refusals.add(undefined);
    clock.now += MINUTE - 1;
    refusals.add('https://a.example');
    clock.now += 1;
    refusals.add('https://a.example');
    assert.deepEqual(lines, [
      { origin: 'https://a.example', suppressed: 0 },
      { origin: 'none', suppressed: 2 },
      { origin: 'https://a.example', suppressed: 1 },
    ]);
    assert.deepEqual(counted, Array(6).fill('origin'));
  });

  it('logs a few made-up origins a minute, none of them twice, and forgets them', () => {
    const { clock, lines, counted, refusals } = setUp();
    refusals.add('https://a.example');
    for (let index = 0; index < 1_000; index += 1) refusals.add(`https://${index}.example`);
    refusals.add('https://a.example');
    assert.equal(lines.length, 20);
    assert.equal(new Set(lines.map(({ origin }) => origin)).size, 20);
    assert.equal(counted.length, 1_002);
    clock.now += MINUTE;
    refusals.add('https://a.example');
    assert.deepEqual(lines[20], { origin: 'https://a.example', suppressed: 982 });
  });

  it('keeps little of a million origins', () => {
    const { gc } = globalThis;
    assert.ok(gc, 'expected node --expose-gc');
    const { lines, refusals, counted, clock } = setUp();
    const filler = 'x'.repeat(4_000);
    gc();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < ORIGINS; index += 1) {
      refusals.add(`https://${index}.${filler}`);
      clock.now += 1;
      counted.length = 0;
    }
    gc();
    assert.ok(process.memoryUsage().heapUsed - before < 3_000_000);
    assert.equal(lines.length, 20 * Math.ceil(ORIGINS / MINUTE));
    assert.ok(lines.every(({ origin }) => origin.length === 200));
  });
});
