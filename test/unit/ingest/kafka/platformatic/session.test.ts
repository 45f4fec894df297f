import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { PositionReset, RecordBatch } from '../../../../../src/ingest/kafka/driver.ts';
import type { Cluster, TopicLayout } from '../../../../../src/ingest/kafka/platformatic/cluster.ts';
import type { BrokerAddress } from '../../../../../src/ingest/kafka/platformatic/connections.ts';
import type { FetchResponse } from '../../../../../src/ingest/kafka/platformatic/fetch-response.ts';
import { CODE, KafkaError } from '../../../../../src/ingest/kafka/platformatic/kafka-error.ts';
import { MemberPartition } from '../../../../../src/ingest/kafka/platformatic/member-partition.ts';
import type { CommitOf, Membership } from '../../../../../src/ingest/kafka/platformatic/membership.ts';
import { Session } from '../../../../../src/ingest/kafka/platformatic/session.ts';
import type { LogBefore } from '../../../../../src/ingest/kafka/position-text.ts';
import { createLog } from '../../../../../src/log.ts';
import { systemClock } from '../../../../../src/support/clock.ts';
import { encodedBatch } from './encoded-batch.ts';
import { turnsUntil } from '../../../../helpers/turns-until.ts';

const TOPIC = {
  topic: 'items',
  topicId: 'items',
  metadata: ({ resets, leaderEpoch }: LogBefore) => `${resets} ${leaderEpoch}`,
};
const UUID = 'uuid';
const NEVER_MS = 2 ** 30;
const TIMING = {
  sessionTimeoutMs: NEVER_MS,
  heartbeatMs: NEVER_MS,
  rebalanceTimeoutMs: NEVER_MS,
  fetchWaitMs: 1,
  metadataMaxAgeMs: NEVER_MS,
};

interface Fetched {
  readonly partition: number;
  readonly records?: Buffer;
  readonly errorCode?: number;
  readonly divergesAt?: number;
}

interface FakeOptions {
  /** The node that leads each partition, at one look after the other; the last one stays. */
  readonly leaders: readonly (readonly number[])[];
  /** Before the join; by default as at the first look. */
  readonly leadersBefore?: readonly number[];
  /** What a broker answers; undefined: nothing, for as long as the session lasts. */
  readonly fetch: (node: number, partitions: readonly MemberPartition[]) => Fetched[] | undefined;
  readonly onBatch?: (batch: RecordBatch) => Promise<void>;
}

/** A session whose brokers answer as the test says. It is stopped with the test. */
function start(t: TestContext, { leaders, leadersBefore, fetch, onBatch }: FakeOptions) {
  const positions = leaders[0]?.map(
    (_, partition) =>
      new MemberPartition({
        ...TOPIC,
        partition,
        partitions: 1,
        position: 0,
        log: { resets: 0, leaderEpoch: undefined },
      }),
  );
  const partitions = positions ?? [];
  const layoutOf = (each: readonly number[]): ReadonlyMap<string, TopicLayout> => {
    const layout = { topicId: TOPIC.topicId, uuid: UUID, leaders: each };
    return new Map([[TOPIC.topic, layout]]);
  };
  const layouts = leaders.map(layoutOf);
  const [atJoin = new Map<string, TopicLayout>(), ...later] = layouts;
  const closing = new AbortController();
  const raw = async ({ port }: BrokerAddress): Promise<FetchResponse> => {
    await setImmediate();
    const fetched = fetch(port, partitions);
    if (fetched === undefined)
      await new Promise((resolve) => closing.signal.addEventListener('abort', resolve));
    const rest = { uuid: UUID, lastStableOffset: 1_000, aborted: [], preferredReplica: -1 };
    const none = { records: Buffer.alloc(0), errorCode: 0 };
    return { errorCode: 0, partitions: (fetched ?? []).map((each) => ({ ...rest, ...none, ...each })) };
  };
  let looks = 0;
  const cluster = {
    rack: '',
    broker: (port: number) => ({ host: 'broker', port }),
    connections: () => ({ raw, close: () => Promise.resolve(closing.abort()) }),
    topics: () => Promise.resolve(later[Math.min(looks++, later.length - 1)] ?? atJoin),
    offsets: (_topic: string, _layout: TopicLayout, [partition = 0]: number[], of: string) =>
      Promise.resolve(new Map([[partition, of === 'beginning' ? 10 : 20]])),
  } as unknown as Cluster;
  const commits: number[] = [];
  const texts: string[] = [];
  const resets: PositionReset[] = [];
  const lines: string[] = [];
  const session = new Session({
    cluster,
    membership: {
      commit: (committed: readonly CommitOf[]) => {
        commits.push(...committed.map(({ offset }) => offset));
        texts.push(...committed.map(({ metadata }) => metadata));
        return Promise.resolve();
      },
    } as unknown as Membership,
    member: {
      groupId: 'group',
      topics: [TOPIC.topic],
      timing: TIMING,
      onBatch: onBatch ?? commitAll,
      onAssigned: () => undefined,
      onPositionReset: (reset) => void resets.push(reset),
      onAnswer: () => undefined,
    },
    partitions,
    layoutsBefore: leadersBefore === undefined ? atJoin : layoutOf(leadersBefore),
    layouts: atJoin,
    isRunning: () => true,
    log: createLog('info', { write: (line: string) => void lines.push(line) }),
  });
  // Waits for the next attempt end at once, those of the group's clockwork with the session.
  t.mock.method(systemClock, 'sleep', (ms: number, signal: AbortSignal) =>
    ms < NEVER_MS ? setImmediate() : new Promise((resolve) => signal.addEventListener('abort', resolve)),
  );
  const run = session.run();
  run.catch(() => undefined);
  t.after(async () => {
    session.stop();
    await run.catch(() => undefined);
  });
  return { run, commits, texts, resets, lines, looks: () => looks };
}

const commitAll = (batch: RecordBatch): Promise<void> =>
  batch.commit((batch.records.at(-1)?.offset ?? -1) + 1);

const batchAt = (firstOffset: number): Buffer => encodedBatch(['value', 'value'], { firstOffset });

test('partitions of brokers that have a backlog are processed by turns', async (t) => {
  const taken: number[] = [];
  start(t, {
    leaders: [[1, 2]],
    fetch: (node, partitions) => {
      const partition = node - 1;
      return [{ partition, records: batchAt(partitions[partition]?.fetchOffset ?? 0) }];
    },
    onBatch: async (batch) => {
      // Its broker has sent more by the time that it is processed.
      for (let turn = 0; turn < 10; turn += 1) await setImmediate();
      await commitAll(batch);
      taken.push(batch.partition);
    },
  });
  await turnsUntil(() => taken.length >= 20);
  const ofFirst = taken.slice(0, 20).filter((partition) => partition === 0).length;
  assert.ok(Math.abs(ofFirst - 10) <= 1, taken.join());
});

test('a broker that refuses the member ends its session', async (t) => {
  const refusal = new KafkaError('SASL PLAIN authentication failed: wrong', { isRetriable: false });
  const { run } = start(t, {
    leaders: [[1, 2]],
    fetch: (node) => {
      if (node === 2) throw refusal;
      return undefined;
    },
  });
  await assert.rejects(run, refusal);
});

test('a partition that was added while the group shared out those of before has the member join again', async (t) => {
  const { run, looks } = start(t, {
    leadersBefore: [1],
    leaders: [[1, 1]],
    fetch: () => {
      throw new KafkaError('fetching: connect ECONNREFUSED', { isRetriable: true });
    },
  });
  let hasEnded = false;
  void run.then(() => (hasEnded = true));
  await turnsUntil(() => hasEnded || looks() >= 3);
  assert.ok(hasEnded);
});

test('a broker that is out of reach is told once, and asked again', async (t) => {
  let fetches = 0;
  const { lines, looks } = start(t, {
    leaders: [[1, 2]],
    fetch: (node) => {
      if (node === 1) return undefined;
      fetches += 1;
      throw new KafkaError('fetching: connect ECONNREFUSED', { isRetriable: true });
    },
  });
  await turnsUntil(() => fetches >= 3);
  assert.ok(looks() >= 2);
  assert.equal(lines.length, 1);
  const { msg, broker, reason } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  assert.deepEqual(
    [msg, broker, reason],
    ['a broker sends no events; asking again until it does', 2, 'fetching: connect ECONNREFUSED'],
  );
});

test('a log that has lost its end, and has another one, is read from where that begins', async (t) => {
  const asked: (readonly [offset: number, epoch: number | undefined])[] = [];
  const epochs: (number | undefined)[] = [];
  const { commits, texts, resets } = start(t, {
    leaders: [[1]],
    onBatch: (batch) => {
      epochs.push(...batch.records.map(({ epoch }) => epoch));
      return commitAll(batch);
    },
    fetch: (_node, [partition]) => {
      const { fetchOffset, fetchedEpoch } = partition as MemberPartition;
      asked.push([fetchOffset, fetchedEpoch]);
      const records = (leaderEpoch: number) =>
        encodedBatch(['value', 'value'], { firstOffset: fetchOffset, partitionLeaderEpoch: leaderEpoch });
      if (fetchOffset < 4 && commits.length < 2) return [{ partition: 0, records: records(5) }];
      if (fetchedEpoch === 5) return [{ partition: 0, divergesAt: 3 }];
      return fetchOffset === 3 ? [{ partition: 0, records: records(6) }] : undefined;
    },
  });
  await turnsUntil(() => asked.length > 0 && commits.at(-1) === 5);
  assert.deepEqual(commits, [2, 4, 3, 5]);
  assert.deepEqual(texts, ['0 5', '0 5', '1 undefined', '1 6']);
  assert.deepEqual(epochs, [5, 5, 5, 5, 1e10 + 6, 1e10 + 6]);
  const reset = { topic: TOPIC.topic, partition: 0, position: 4, to: 'divergence', offset: 3 };
  assert.deepEqual(resets, [reset]);
  await turnsUntil(() => asked.at(-1)?.[0] === 5);
  assert.deepEqual(asked.at(-1), [5, 6]);
});

test('a partition without a leader is fetched as soon as it has one', async (t) => {
  let failures = 0;
  const { commits } = start(t, {
    leaders: [[1], [-1], [-1], [2]],
    fetch: (node, [partition]) => {
      if (node === 1) {
        failures += 1;
        throw new KafkaError('fetching: read ECONNRESET', { isRetriable: true });
      }
      return partition?.fetchOffset === 0 ? [{ partition: 0, records: batchAt(0) }] : undefined;
    },
  });
  await turnsUntil(() => commits.length > 0);
  assert.deepEqual([commits, failures], [[2], 1]);
});

test('a position is moved into the log once the batch before it has been processed', async (t) => {
  let process: (() => void) | undefined;
  let prefetches = 0;
  const { commits, texts, resets } = start(t, {
    leaders: [[1]],
    fetch: (_node, [partition]) => {
      const at = partition?.fetchOffset ?? 0;
      if (at >= 10) return undefined;
      if (at === 0) return [{ partition: 0, records: batchAt(0) }];
      prefetches += 1;
      return [{ partition: 0, errorCode: CODE.offsetOutOfRange }];
    },
    onBatch: async (batch) => {
      await new Promise<void>((resolve) => (process = resolve));
      await commitAll(batch);
    },
  });
  await turnsUntil(() => prefetches >= 2);
  assert.deepEqual([commits, resets], [[], []]);
  process?.();
  await turnsUntil(() => resets.length > 0);
  assert.deepEqual(commits, [2, 10]);
  assert.deepEqual(resets, [{ topic: 'items', partition: 0, position: 2, to: 'beginning', offset: 10 }]);
  // Retention gives no offset again.
  assert.deepEqual(texts, ['0 0', '0 undefined']);
});
