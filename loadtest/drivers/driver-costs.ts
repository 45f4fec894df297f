import { setTimeout as delay } from 'node:timers/promises';
import { RunScope } from '../run/run-scope.ts';
import { newGroupId, type DriverCase } from './driver-case.ts';
import type { Costs } from './driver-messages.ts';
import { DriverProcess } from './driver-process.ts';
import { DriverTopic } from './driver-topic.ts';

const PARTITIONS = 4;

interface Measurement {
  readonly driver: DriverCase;
  readonly brokers: string;
  readonly events: number;
  readonly signal: AbortSignal;
}

/** Measures the costs of events for a member that finds all of them in the log. */
export function costsInFlood(measurement: Measurement): Promise<Costs> {
  return costsOf(measurement, async (topic, start) => {
    await topic.fill(measurement.events);
    return costsToldBy(start());
  });
}

/**
 * Measures the costs of events for a member that gets them one at a time.
 *
 * @param rate events a second
 */
export function costsOfSingles(measurement: Measurement, rate: number): Promise<Costs> {
  return costsOf(measurement, async (topic, start) => {
    const member = start();
    await member.told(({ type }) => (type === 'joined' ? true : undefined));
    const costs = costsToldBy(member);
    const began = performance.now();
    for (let sent = 0; sent < measurement.events; sent += 1) {
      const due = began + (sent * 1_000) / rate;
      await delay(Math.max(0, due - performance.now()), undefined, { signal: measurement.signal });
      await topic.send([sent % PARTITIONS]);
    }
    return costs;
  });
}

async function costsOf(
  { driver, brokers, events }: Measurement,
  run: (topic: DriverTopic, start: () => DriverProcess) => Promise<Costs>,
): Promise<Costs> {
  const scope = new RunScope();
  try {
    const topic = await DriverTopic.make(scope, brokers, PARTITIONS);
    const groupId = newGroupId();
    await topic.consumedFromStart(groupId);
    return await run(topic, () => {
      const settings = { ...driver.settings, KAFKA_BROKERS: brokers };
      const member = new DriverProcess({ settings, topic: topic.name, groupId, events });
      scope.after(() => member.end('SIGKILL'));
      return member;
    });
  } finally {
    await scope.end();
  }
}

function costsToldBy(member: DriverProcess): Promise<Costs> {
  const costs = member.told((message) => (message.type === 'costs' ? message : undefined));
  // The caller awaits the promise only when all events are sent; the member may end before.
  costs.catch(() => undefined);
  return costs;
}
