import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Bus } from '../../src/bus/bus.ts';
import { PublishError, type Publication } from '../../src/events/publisher.ts';
import type { Metrics } from '../../src/metrics.ts';
import { systemClock, type Clock } from '../../src/support/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { range } from '../helpers/numbers.ts';
import type { RedisServer } from '../helpers/redis.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { createBus, started } from './redis-buses.ts';

export const TOPIC = 'bids';
const OTHER = 'asks';
export const CHANNEL = 'faults:bids';

const SETTLE_MS = 1_000;

/** With what it has heard and been told. */
export interface Pod {
  readonly bus: Bus;
  readonly metrics: Metrics;
  readonly relay: TcpRelay;
  /** Payloads that have come on the channel. */
  readonly heard: string[];
  /** Topics of which gaps were told. */
  readonly gaps: string[];
}

/** A pod that listens to a channel of one topic, and to one of another topic, over a network of its own. */
export async function startPod(
  t: TestContext,
  server: RedisServer,
  { user = '', clock = systemClock }: { user?: string; clock?: Clock } = {},
): Promise<Pod> {
  const relay = await TcpRelay.start(t, server.port);
  const { bus, metrics } = createBus(
    { url: `redis://${user}127.0.0.1:${relay.port}` },
    {
      prefix: 'faults:',
      timing: { beatMs: 200, silenceMs: 2_000, deafMs: 15_000, settleMs: SETTLE_MS },
      clock,
    },
  );
  const pod: Pod = { bus, metrics, relay, heard: [], gaps: [] };
  bus.onGap((topic) => pod.gaps.push(topic));
  await started(t, bus);
  await bus.subscribe(TOPIC, CHANNEL, (payload) => pod.heard.push(payload.toString())).ready;
  await bus.subscribe(OTHER, 'faults:asks', () => undefined).ready;
  await publish(pod, ['first']);
  return pod;
}

/**
 * Publishes as ingest does: what has failed is tried again, and nothing else.
 *
 * @returns how often it failed
 */
export async function publish({ bus }: Pod, payloads: readonly string[]): Promise<number> {
  let rest: readonly Publication[] = payloads.map((payload) => ({ channel: CHANNEL, payload }));
  let refused = 0;
  await eventually(async () => {
    try {
      await bus.publish(TOPIC, rest);
    } catch (thrown) {
      assert.ok(thrown instanceof PublishError, String(thrown));
      rest = thrown.failed;
      refused += 1;
      throw thrown;
    }
  });
  return refused;
}

/** @param channel one of the pod's own, or of one of its connections */
const podOf = (channel: string): string => channel.replace(/:\d+$/, '');

interface BeatsOptions {
  readonly prefix?: string;
  /** How many pods there are at least. */
  readonly least?: number;
}

/** Until each pod of a server has sent itself so many messages, over whichever connections. */
export async function beats(
  client: Redis,
  count: number,
  { prefix = 'faults:', least = 1 }: BeatsOptions = {},
): Promise<void> {
  const listening = client.duplicate();
  const seen = new Map<string, number>();
  listening.on('pmessage', (_pattern, channel: string) =>
    seen.set(podOf(channel), (seen.get(podOf(channel)) ?? 0) + 1),
  );
  await listening.psubscribe(`${prefix}@pod:*:*`);
  const pods = await eventually(async () => {
    const channels = await client.pubsub('CHANNELS', `${prefix}@pod:*`);
    const found = new Set(channels.map((channel) => podOf(String(channel))));
    assert.ok(found.size >= least, `expected ${least} pods that listen, got ${found.size}`);
    return found;
  });
  await eventually(() => {
    const few = [...pods].filter((pod) => (seen.get(pod) ?? 0) < count);
    assert.deepEqual(few, [], 'pods whose messages to themselves have not come');
  });
  listening.disconnect();
}

/** Until the pods' heartbeats have shown them that they have heard everything: one of the two was sent after it. */
export async function quiet(client: Redis, ...pods: readonly Pod[]): Promise<void> {
  await eventually(() => {
    for (const { heard } of pods) assert.notDeepEqual(heard, []);
  });
  await beats(client, 2);
  for (const { heard, gaps } of pods) {
    heard.length = 0;
    gaps.length = 0;
  }
}

/** What is published comes to each pod over a connection of its own. */
export const untilHeard = (payloads: readonly string[], ...pods: readonly Pod[]): Promise<void> =>
  eventually(() => {
    for (const { heard } of pods) assert.deepEqual(heard, payloads);
  });

export const listensAgain = ({ metrics }: Pod): Promise<void> =>
  eventually(async () => {
    const { values } = await metrics.busConnected.get();
    assert.equal(values.find(({ labels }) => labels.connection === 'listening')?.value, 1);
  });

export const outages = async ({ metrics }: Pod): Promise<number> =>
  (await metrics.busOutages.get()).values[0]?.value ?? 0;

/** A clock that has pods wait until they are let, and not for a time, before they publish over a new connection. */
export class SettlingClock implements Clock {
  readonly now = systemClock.now;
  readonly random = systemClock.random;
  readonly #settle = new EventEmitter();

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms !== SETTLE_MS) return systemClock.sleep(ms, signal);
    if (!signal.aborted) await once(this.#settle, 'settle', { signal }).catch(() => undefined);
  }

  /** Lets pods publish, until this has been published. */
  async settle(publishing: Promise<unknown>): Promise<void> {
    const published = publishing.then(() => true);
    await eventually(async () => {
      this.#settle.emit('settle');
      assert.ok(await Promise.race([published, nextTurn(false)]), 'expected the pod to publish');
    });
  }
}

export const numbered = (count: number): string[] => range(0, count).map(String);
