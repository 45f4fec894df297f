import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoopUtilization } from '../../../src/support/loop-utilization.ts';
import { Metrics } from '../../../src/metrics.ts';

/** An event loop whose times are told. */
class Loop {
  idle = 100;
  active = 50;
  readonly utilization = new LoopUtilization(() => ({ idle: this.idle, active: this.active }));

  pass({ idle = 0, active = 0 }): number {
    this.idle += idle;
    this.active += active;
    return this.utilization.value;
  }
}

describe('event-loop utilisation', () => {
  it('is the busy share of the time since it was last read', () => {
    const loop = new Loop();
    assert.equal(loop.pass({ active: 2_500, idle: 7_500 }), 0.25);
    assert.equal(loop.pass({ active: 9_000, idle: 1_000 }), 0.9);
  });

  it('is not of a shorter window if it is read often', () => {
    const loop = new Loop();
    assert.equal(loop.pass({ active: 5_000, idle: 5_000 }), 0.5);
    assert.equal(loop.pass({ active: 4_000 }), 0.5, 'the last whole window');
    assert.equal(loop.pass({ idle: 6_000 }), 0.4, 'the next one, whole');
    assert.equal(loop.pass({ idle: 1_000 }), 0.4);
    assert.equal(loop.pass({ idle: 1_000 }), 0.4);
    assert.equal(loop.pass({ idle: 5_000 }), 0);
  });

  it('is known before a window is full for the first time', () => {
    const loop = new Loop();
    assert.equal(loop.pass({}), 0);
    assert.equal(loop.pass({ active: 30, idle: 10 }), 0.75);
    assert.equal(loop.pass({ active: 2_470, idle: 2_490 }), 0.5);
  });

  it('is never more than 1', () => {
    const loop = new Loop();
    loop.pass({ idle: 7_073.124456767555, active: 6_081.339780690948 });
    assert.equal(loop.pass({ active: 6_004.665114015882 }), 1);
  });

  it('stands among the metrics, and is that of this process', async () => {
    const text = await new Metrics().registry.metrics();
    const value = Number(/^sluice_event_loop_utilization (.+)$/m.exec(text)?.[1]);
    assert.ok(value >= 0 && value <= 1, text);
  });
});
