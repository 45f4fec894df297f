/** A process with one member of a consumer group. Its only argument is the assignment, with the driver's settings. */
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../../src/config/config.ts';
import { chooseDriver } from '../../src/ingest/ingest.ts';
import { GROUP_TIMING, type GroupMember, type RecordBatch } from '../../src/ingest/kafka/driver.ts';
import { createLog } from '../../src/log.ts';
import type { MemberAssignment, MemberMessage } from './driver-messages.ts';

/** The number of records that the gateway takes at once. */
const CHUNK = 500;

/** The wait before the member starts again: the broker frees the name of a killed member only after a while. */
const RESTART_MS = 1_000;

const { settings, topic, groupId, events } = JSON.parse(process.argv[2] ?? '') as MemberAssignment;
const config = loadConfig(settings);
const driver = await chooseDriver(config, createLog('silent'));
const timing = { ...GROUP_TIMING, sessionTimeoutMs: config.KAFKA_SESSION_TIMEOUT_MS };

/** CPU usage when the first batch came. */
let cpuBefore: NodeJS.CpuUsage | undefined;
let consumed = 0;
let member: GroupMember;
const stopping = new AbortController();

process.once('disconnect', () => process.exit());
process.on('SIGTERM', () => {
  stopping.abort();
  void member.stop().then(() => process.exit());
});

while (!stopping.signal.aborted) {
  member = driver.member({
    groupId,
    topics: [topic],
    timing,
    onBatch: take,
    onAssigned: (assignment) => tell({ type: 'joined', partitions: assignment[topic] ?? [] }),
    onPositionReset: () => undefined,
    onAnswer: () => undefined,
  });
  const crash = await member.run().catch((error: unknown) => error);
  if (!driver.isRetriable(crash)) throw crash;
  await member.stop();
  await delay(RESTART_MS);
}

async function take(batch: RecordBatch): Promise<void> {
  cpuBefore ??= process.cpuUsage();
  const { partition, records } = batch;
  for (let from = 0; from < records.length; from += CHUNK) {
    const offsets = records.slice(from, from + CHUNK).map(({ offset }) => offset);
    await batch.heartbeat();
    if (events === undefined) tell({ type: 'consumed', partition, offsets });
    await batch.commit((offsets.at(-1) ?? 0) + 1);
    const before = consumed;
    consumed += offsets.length;
    if (events !== undefined && before < events && consumed >= events) tellCosts(cpuBefore);
  }
}

function tellCosts(since: NodeJS.CpuUsage): void {
  const { user, system } = process.cpuUsage(since);
  tell({
    type: 'costs',
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.resourceUsage().maxRSS * 1_024,
  });
}

function tell(message: MemberMessage): void {
  process.send?.(message);
}
