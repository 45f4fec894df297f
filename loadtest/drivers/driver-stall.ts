import { setTimeout as delay } from 'node:timers/promises';
import { RunScope } from '../run/run-scope.ts';
import { Arrivals } from './arrivals.ts';
import { newGroupId, type DriverCase } from './driver-case.ts';
import { DriverProcess } from './driver-process.ts';
import { DriverTopic } from './driver-topic.ts';

const PARTITIONS = Array.from({ length: 6 }, (_, partition) => partition);

const SESSION_TIMEOUT_MS = 10_000;

/** The time between two events of a partition, and between two looks at the members' partitions. */
const EVENT_MS = 50;
const LOOK_MS = 20;

/** How long events flow before the fault, and again after the partitions are shared again. */
const CALM_MS = 3_000;

/** The limit of a wait: a broker keeps a member that uses KIP-848 for 45 s. */
const LONGEST_MS = 120_000;

export interface StallCase {
  readonly driver: DriverCase;
  /** Whether members have static names, by which the group recognises them after a restart. */
  readonly isNamed: boolean;
  readonly fault: 'stopped' | 'killed';
}

export interface Stall {
  /** The longest time without events, in ms: of partitions of the member with the fault, and of the other member. */
  readonly ownMs: number;
  readonly otherMs: number;
  /** The number of copies of events. */
  readonly doubled: number;
}

/** Stops or kills one of two members, and starts it anew at once, while events come to all partitions. */
export async function measureStall(
  { driver, isNamed, fault }: StallCase,
  brokers: string,
  signal: AbortSignal,
): Promise<Stall> {
  const scope = new RunScope();
  try {
    const topic = await DriverTopic.make(scope, brokers, PARTITIONS.length);
    const groupId = newGroupId();
    await topic.consumedFromStart(groupId);
    const arrivals = new Arrivals(PARTITIONS.length, () => performance.now());
    const start = (name: string): DriverProcess => {
      const settings = {
        ...driver.settings,
        KAFKA_BROKERS: brokers,
        KAFKA_SESSION_TIMEOUT_MS: String(SESSION_TIMEOUT_MS),
        // A name means that processes share the group, which takes a Redis; a member alone does not connect to it.
        ...(isNamed && { KAFKA_INSTANCE_ID: name, REDIS_URL: 'redis://127.0.0.1' }),
      };
      const member = new DriverProcess({ settings, topic: topic.name, groupId, events: undefined });
      scope.after(() => member.end('SIGKILL'));
      member.onMessage((message) => {
        if (message.type === 'consumed') arrivals.add(message.partition, message.offsets);
      });
      return member;
    };
    const half = PARTITIONS.length / 2;
    const other = start('other');
    const own = start('own');
    await until(() => other.partitions.length === half && own.partitions.length === half, signal);

    const over = new AbortController();
    const sending = sendSteadily(topic, over.signal);
    scope.after(async () => {
      over.abort();
      await sending;
    });
    await delay(CALM_MS, undefined, { signal });
    const [ownPartitions, otherPartitions] = [own.partitions, other.partitions];
    arrivals.restart();
    await own.end(fault === 'stopped' ? 'SIGTERM' : 'SIGKILL');
    const again = start('own');
    await until(() => again.partitions.length === half && other.partitions.length === half, signal);
    await delay(CALM_MS, undefined, { signal });
    return {
      ownMs: arrivals.longestOf(ownPartitions),
      otherMs: arrivals.longestOf(otherPartitions),
      doubled: arrivals.doubled,
    };
  } finally {
    await scope.end();
  }
}

async function sendSteadily(topic: DriverTopic, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await topic.send(PARTITIONS);
    await delay(EVENT_MS);
  }
}

async function until(holds: () => boolean, signal: AbortSignal): Promise<void> {
  const latest = performance.now() + LONGEST_MS;
  while (!holds()) {
    if (performance.now() > latest) {
      throw new Error(`expected that both members share the partitions within ${LONGEST_MS / 1_000} s`);
    }
    await delay(LOOK_MS, undefined, { signal });
  }
}
