import { messageOf } from '../../errors.ts';
import { unlessAborted } from '../../support/unless-aborted.ts';
import { withTimeout } from '../../support/with-timeout.ts';
import type { KafkaDriver } from './driver.ts';
import { GroupBus, type GroupBusOptions, type BusId } from './group-bus.ts';

interface GroupAdmissionOptions extends Omit<GroupBusOptions, 'busId'> {
  readonly driver: Pick<KafkaDriver, 'forgetGroup' | 'describeGroup'>;
  /** Why the pod must not join the group yet; undefined if it may. */
  readonly mayNotJoin: () => string | undefined;
  /** Undefined: nothing distinguishes this bus from others, and the pod joins the group beside any members. */
  readonly busId: BusId | undefined;
  /** `KAFKA_START=latest`: the first pod of the group begins at the ends of partitions. */
  readonly startsAtEnd: boolean;
}

/** How often a source that may not join yet asks whether it may. */
const MAY_JOIN_MS = 50;

/** How long a stop may take to delete a group; Kafka deletes it some days later anyway. */
const FORGET_MS = 3_000;

/** What a pod does before each join of a consumer group, while it is a member, and after the last join. */
export class GroupAdmission {
  readonly #options: GroupAdmissionOptions;
  readonly #bus: GroupBus | undefined;
  #startsAtEnd: boolean;

  constructor(options: GroupAdmissionOptions) {
    const { busId } = options;
    this.#options = options;
    this.#bus = busId && new GroupBus({ ...options, busId });
    this.#startsAtEnd = options.startsAtEnd;
  }

  /** The id of the bus, which each commit carries; undefined: none is known. */
  get busId(): string | undefined {
    return this.#bus?.id;
  }

  /**
   * @param signal ends the attempt; the result then means nothing
   * @returns why the pod must not join the group; undefined if it may
   */
  async refusal(topics: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    await this.#untilReached(signal);
    if (signal.aborted) return undefined;
    const refusal = this.#bus && (await unlessAborted(this.#bus.refusal(topics), signal));
    if (signal.aborted || refusal !== undefined) return refusal;
    if (this.#startsAtEnd) await this.#forgetPositions(signal);
    return undefined;
  }

  /** Does what `GroupBus.watch` does. */
  async watch(topics: readonly string[], named: () => void, signal: AbortSignal): Promise<void> {
    await this.#bus?.watch(topics, named, signal);
  }

  /** Deletes the group of a single process. Never rejects. */
  async forget(): Promise<void> {
    const { groupId, driver, log } = this.#options;
    await withTimeout(driver.forgetGroup(groupId), FORGET_MS, () => false).catch((thrown: unknown) =>
      log.debug({ groupId, error: messageOf(thrown) }, 'could not delete the group'),
    );
  }

  /** A member that has never reached the bus would keep its partitions from others. */
  async #untilReached(signal: AbortSignal): Promise<void> {
    const { mayNotJoin, clock } = this.#options;
    while (!signal.aborted && mayNotJoin() !== undefined) await clock.sleep(MAY_JOIN_MS, signal);
  }

  async #forgetPositions(signal: AbortSignal): Promise<void> {
    const { groupId, driver, log } = this.#options;
    const atEnd = await unlessAborted(driver.forgetGroup(groupId), signal);
    if (atEnd === undefined) return;
    log.info({ groupId, atEnd }, 'looked for live members of the group');
    this.#startsAtEnd = false;
  }
}
