import assert from 'node:assert/strict';
import type { Bus } from '../../src/bus/bus.ts';
import type { HistorySettings } from '../../src/events/history-settings.ts';
import type { Metrics } from '../../src/metrics.ts';
import { eventually } from '../helpers/eventually.ts';
import { upTo } from '../helpers/numbers.ts';
import { event, numberIn, TOPIC } from './history.ts';
import { PREFIX } from './redis-buses.ts';

/** The history of a topic that is kept for longer than the test takes. */
export const STREAMED: ReadonlyMap<string, HistorySettings> = new Map([
  [TOPIC, { size: 50_000, ttlMs: 600_000, keepsAll: false }],
]);

/** One that is not kept. */
const FREE_TOPIC = 'free';

export const STREAMED_TOPICS = [TOPIC, FREE_TOPIC] as const;

interface Pod {
  readonly bus: Bus;
  readonly metrics: Metrics;
  /** Numbers of events of the topic that is kept, and of the other one, as they came. */
  readonly kept: number[];
  readonly free: number[];
  /** Topics of which gaps were told. */
  readonly gaps: string[];
}

/** A pod that listens to a channel of both topics. */
export async function listenToStream({ bus, metrics }: Pick<Pod, 'bus' | 'metrics'>): Promise<Pod> {
  const pod: Pod = { bus, metrics, kept: [], free: [], gaps: [] };
  bus.onGap((topic) => pod.gaps.push(topic));
  await bus.subscribe(TOPIC, PREFIX + TOPIC, (payload) => pod.kept.push(numberIn(payload))).ready;
  await bus.subscribe(FREE_TOPIC, PREFIX + FREE_TOPIC, (payload) => pod.free.push(numberIn(payload))).ready;
  return pod;
}

/** So many events flow before, and after. */
const FLOW = 200;

/**
 * The first pod publishes to both topics, both listen, and something happens. Events of the topic that is kept come to both
 * each once and in order, unless Redis has lost some: then that is told. So is what is missing of the other topic.
 */
export async function streamThrough(
  [publisher, other]: readonly [Pod, Pod],
  happen: () => Promise<unknown>,
): Promise<void> {
  const pods = [publisher, other];
  const flows = async (): Promise<void> => {
    const all = pods.flatMap(({ free, kept }) => [free, kept]);
    const before = all.map(({ length }) => length);
    await eventually(() => {
      const more = all.map(({ length }, index) => length - (before[index] ?? 0));
      assert.ok(Math.min(...more) > FLOW, `expected ${FLOW} more events of each, got ${more.join()}`);
    });
  };
  let isOver = false;
  const streaming = publishUntil(publisher.bus, () => isOver);
  await flows();
  await happen();
  // Some events may still come by the former master before the pods have left it.
  for (const { metrics } of pods) {
    await eventually(async () => assert.notEqual((await metrics.busOutages.get()).values[0]?.value ?? 0, 0));
  }
  await flows();
  isOver = true;
  const sent = upTo(await streaming);
  for (const { kept, free, gaps } of pods) {
    await eventually(() => assert.deepEqual([kept.at(-1), free.at(-1)], [sent.length, sent.length]));
    if (!gaps.includes(TOPIC)) assert.deepEqual(withoutCopies(kept), sent);
    if (!gaps.includes(FREE_TOPIC)) assert.deepEqual(withoutCopies(free), sent);
  }
}

/** Publishes as ingest does: what has failed is tried again. @returns how many events */
async function publishUntil(bus: Bus, isOver: () => boolean): Promise<number> {
  let n = 0;
  while (!isOver()) {
    n += 1;
    await eventually(() => bus.publish(TOPIC, event(n, PREFIX + TOPIC)));
    await eventually(() => bus.publish(FREE_TOPIC, event(n, PREFIX + FREE_TOPIC)));
  }
  return n;
}

/** An event that was published again has the offset of one before, by which pods leave it out. */
function withoutCopies(numbers: readonly number[]): number[] {
  let last = 0;
  return numbers.filter((n) => {
    const isNew = n > last;
    last = Math.max(last, n);
    return isNew;
  });
}
