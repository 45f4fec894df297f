import { isAfter, type LogPosition } from '../../events/log-position.ts';
import type { RecordBatch } from './driver.ts';
import type { HeldBatch } from './state.ts';

interface Wait extends HeldBatch {
  /** The last of the records that wait, and may have been published; undefined: none has been. */
  readonly last: LogPosition | undefined;
  /** Undefined while it waits; then whether all records up to `last` are delivered. */
  isDelivered: boolean | undefined;
  /** Each ends a pause of the partition. */
  readonly resume: (() => void)[];
}

/** Partitions that wait until their records are taken, and are not fetched meanwhile. All others go on. */
export class WaitingPartitions {
  readonly #waits = new Map<string, Wait>();

  /** Why a partition waits; undefined if it does not. */
  held(topic: string, partition: number): HeldBatch | undefined {
    const wait = this.#waits.get(keyOf(topic, partition));
    return wait !== undefined && wait.isDelivered === undefined ? wait : undefined;
  }

  /** The last record that may have been published of a partition that waits, or has waited. */
  published(topic: string, partition: number): LogPosition | undefined {
    return this.#waits.get(keyOf(topic, partition))?.last;
  }

  /**
   * Pauses the partition of the batch, whose records from its beginning to `last` are not taken.
   *
   * @param untilOver resolves once the partition may go on: with true if these records are delivered by then, with false if
   *   they are to be processed again. It must not reject. `isWaited` is false once nobody waits any more.
   */
  wait(
    batch: RecordBatch,
    { reason, last }: { readonly reason: string; readonly last: LogPosition | undefined },
    untilOver: (isWaited: () => boolean) => Promise<boolean>,
  ): void {
    const { topic, partition } = batch;
    const key = keyOf(topic, partition);
    const wait: Wait = {
      topic,
      partition,
      reason,
      // The record itself would keep its value in memory.
      last: last && { offset: last.offset, epoch: last.epoch },
      isDelivered: undefined,
      resume: [batch.pause()],
    };
    this.#waits.set(key, wait);
    void this.#end(
      wait,
      untilOver(() => this.#waits.get(key) === wait),
    );
  }

  async #end(wait: Wait, over: Promise<boolean>): Promise<void> {
    wait.isDelivered = await over;
    for (const resume of wait.resume) resume();
  }

  /**
   * Called when a batch of the partition is handed over.
   *
   * @returns the index of the first record that is still to be processed; undefined: none may be processed yet
   */
  async begin(batch: RecordBatch): Promise<number | undefined> {
    const { topic, partition, records } = batch;
    const wait = this.#waits.get(keyOf(topic, partition));
    if (wait === undefined || wait.isDelivered === false) return 0;
    if (wait.isDelivered === undefined) {
      // The batch was fetched before the pause.
      wait.resume.push(batch.pause());
      return undefined;
    }
    // A log may have lost its end meanwhile, and given these offsets to other records.
    const waited = wait.last;
    const done = waited === undefined ? [] : records.filter((record) => !isAfter(record, waited));
    const last = done.at(-1);
    if (last !== undefined) await batch.commit(last.offset + 1);
    if (last === undefined || last.offset === waited?.offset) this.#waits.delete(keyOf(topic, partition));
    return done.length;
  }

  /** @returns whether this is the first delivery since the partition waited */
  delivered(topic: string, partition: number): boolean {
    return this.#waits.delete(keyOf(topic, partition));
  }

  /** The member has joined anew: another member may have the partitions. */
  clear(): void {
    this.#waits.clear();
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}
