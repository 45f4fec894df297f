import type { TestContext } from 'node:test';
import type {
  Assignment,
  GroupMember,
  KafkaDriver,
  MemberOptions,
  PositionReset,
  RecordBatch,
} from '../../src/ingest/kafka/driver.ts';
import type { KafkaRecord } from '../../src/ingest/record.ts';
import { eventually } from '../helpers/eventually.ts';

/** Short, but not shorter than brokers allow. */
export const TIMING = {
  sessionTimeoutMs: 6_000,
  heartbeatMs: 300,
  rebalanceTimeoutMs: 10_000,
  fetchWaitMs: 200,
  metadataMaxAgeMs: 500,
};

/** A member that remembers what it was given, and commits it at once. */
export class TestMember {
  readonly member: GroupMember;
  readonly records: KafkaRecord[] = [];
  readonly assignments: Assignment[] = [];
  /** Its positions as it was assigned each of them: offsets by partition. */
  readonly starts: Readonly<Record<number, number>>[] = [];
  readonly resets: PositionReset[] = [];
  /** How many records it has committed. */
  committed = 0;
  answers = 0;
  /** What it crashed of; undefined while it runs. */
  crash: Error | undefined;

  constructor(
    driver: KafkaDriver,
    options: Pick<MemberOptions, 'groupId' | 'topics'> & Partial<MemberOptions>,
  ) {
    this.member = driver.member({
      timing: TIMING,
      onBatch: (batch) => this.take(batch),
      onAssigned: (assignment) => {
        this.assignments.push(assignment);
        const positions = this.member.positions();
        this.starts.push(
          Object.fromEntries(positions.map(({ partition, position }) => [partition, position])),
        );
      },
      onPositionReset: (reset) => void this.resets.push(reset),
      onAnswer: () => (this.answers += 1),
      ...options,
    });
  }

  /** Resolves once it has joined; rejects if it crashes before. */
  async start(t: TestContext): Promise<this> {
    t.after(() => this.member.stop());
    void this.member.run().then(
      (error) => (this.crash = error),
      (error: unknown) => (this.crash = error as Error),
    );
    await this.until(() => this.assignments.length > 0 || this.crash !== undefined);
    if (this.assignments.length === 0) throw this.crash;
    return this;
  }

  async take(batch: RecordBatch): Promise<void> {
    const last = batch.records.at(-1);
    if (last === undefined) return;
    this.records.push(...batch.records);
    await batch.commit(last.offset + 1);
    this.committed += batch.records.length;
  }

  /** @returns of all partitions, or of one */
  values(partition?: number): string[] {
    const of = this.records.filter((record) => partition === undefined || record.partition === partition);
    return of.map(({ value }) => String(value));
  }

  /** How many partitions it has. */
  get partitions(): number {
    return Object.values(this.assignments.at(-1) ?? {}).flat().length;
  }

  until(holds: () => boolean): Promise<void> {
    return eventually(() => {
      if (!holds()) throw new Error(`got ${this.records.length} records, crash: ${this.crash?.message}`);
    });
  }
}
