import { randomUUID } from 'node:crypto';
import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../support/clock.ts';
import type { GroupDescription, KafkaDriver } from './driver.ts';
import { readPositionText } from './position-text.ts';

/** Returns the id that the bus keeps, or else the proposed one, which the bus keeps from then on. */
export type BusId = (proposed?: string) => Promise<string | undefined>;

export interface GroupBusOptions {
  readonly groupId: string;
  readonly driver: Pick<KafkaDriver, 'describeGroup'>;
  /** `BUS_ID`. Undefined: the id that the bus keeps is used. */
  readonly configured: string | undefined;
  readonly busId: BusId;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
}

/** Longer than a killed pod counts as a member. */
const GHOSTS_MS = 60_000;

/** The pause between two looks whether the bus still keeps its id: Redis may have come back empty. */
const KEEP_MS = 10_000;

/** The pause between two looks at what others have committed. */
const LOOK_MS = 60_000;

const NO_ID =
  'Redis keeps no id of its bus, so that others can not be kept out of the consumer group: set BUS_ID';
const INTRUDERS =
  'pods of another bus are in the consumer group: events that they consume do not reach the clients of this one';

/**
 * Keeps pods of another bus out of a consumer group. Each pod of a group consumes a share of the events, so a pod with
 * another bus, such as that of another environment, takes its share away. Each committed position carries the bus id of the
 * pod that committed it, and only pods of the same bus join a group that has members.
 */
export class GroupBus {
  readonly #options: GroupBusOptions;
  #id: string | undefined;
  /** This pod was a member without an id. It joins again at once, even beside members of another bus, to name its own. */
  #isNamed = false;
  /** When members of another bus were seen first, ms. */
  #othersSince: number | undefined;
  /** The ids that were found last. */
  #found: ReadonlySet<string> = new Set();
  /** The last line that was logged. */
  #told: string | undefined;

  constructor(options: GroupBusOptions) {
    this.#options = options;
    this.#id = options.configured;
  }

  /** The id that each commit carries. Undefined until `refusal` permits joining, and if the bus keeps none. */
  get id(): string | undefined {
    return this.#id;
  }

  /**
   * @param topics that are consumed
   * @returns why the pod must not join the group; undefined if it may
   * @throws if Kafka can't tell just now
   */
  async refusal(topics: readonly string[]): Promise<string | undefined> {
    const { driver, groupId, busId, log } = this.#options;
    const group = await driver.describeGroup(groupId, topics);
    const found = busesIn(group);
    if (found.size > 0) this.#found = found;
    try {
      this.#id ??= await busId();
      this.#measure(group);
      if (!this.#isNamed && this.#isOthers(group) && !(await this.#isOfRedis(group))) {
        const reason = this.#reason();
        this.#tell(reason, () => log.error({ groupId, reason }, 'the consumer group is not joined'));
        return reason;
      }
      this.#id ??= await busId(randomUUID());
    } catch (thrown) {
      return `expected Redis to tell the id of its bus: ${messageOf(thrown)}`;
    }
    this.#othersSince = undefined;
    this.#isNamed = false;
    const fields = { groupId, bus: this.#id };
    this.#tell(this.#id, () => log.info(fields, 'the consumer group is joined for this bus'));
    if (this.#id === undefined) this.#tell(NO_ID, () => log.warn({ groupId }, NO_ID));
    return undefined;
  }

  /**
   * Runs as long as the pod is in the group.
   *
   * @param named called once the bus has an id, if the pod joined the group without one: it must join again
   * @param signal ends the watch
   */
  async watch(topics: readonly string[], named: () => void, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let lookedAt = clock.now();
    for (;;) {
      await clock.sleep(KEEP_MS, signal);
      if (signal.aborted) return;
      await this.#keep(named, signal);
      if (clock.now() - lookedAt < LOOK_MS) continue;
      lookedAt = clock.now();
      await this.#look(topics);
    }
  }

  /**
   * Whether Redis keeps another id than this pod knows, and the group has that id: Redis came back empty while no pod in
   * the group could write the former id again.
   */
  async #isOfRedis(group: GroupDescription): Promise<boolean> {
    const { configured, busId } = this.#options;
    const kept = configured === undefined ? await busId() : undefined;
    if (kept === undefined || !busesIn(group).has(kept)) return false;
    this.#id = kept;
    return true;
  }

  /**
   * A pod may see members of another bus for longer than killed pods count as members. Then it does not take their place
   * when they go for a moment: a pod that waits on a laptop would keep production out at its restart. It also does not take
   * the place of members if Kafka has deleted their positions, with all of their topics.
   */
  #isOthers(group: GroupDescription): boolean {
    const buses = busesIn(group);
    if (this.#id !== undefined && buses.has(this.#id)) return false;
    if (group.texts.length === 0) return group.hasMembers && this.#othersSince !== undefined;
    if (buses.size === 0) return false;
    const now = this.#options.clock.now();
    if (group.hasMembers) this.#othersSince ??= now;
    return group.hasMembers || (this.#othersSince !== undefined && now - this.#othersSince >= GHOSTS_MS);
  }

  #reason(): string {
    const { groupId, configured } = this.#options;
    const source = configured === undefined ? 'its Redis' : 'BUS_ID';
    const expected =
      this.#id === undefined ? 'a bus whose id this Redis knows' : `bus ${this.#id} of ${source}`;
    const found = [...this.#found].join(', ');
    return `consumer group ${groupId}: expected members of ${expected}, got those of bus ${found}; set another KAFKA_GROUP_ID, or BUS_ID=${found} if they are to move to this Redis`;
  }

  /**
   * If Redis has come back empty, a starting pod would find no id, and could not join. It also could not join members that
   * have no id, as Redis had refused to tell it, beside positions of another bus.
   */
  async #keep(named: () => void, signal: AbortSignal): Promise<void> {
    const { configured, busId, groupId, log } = this.#options;
    if (configured !== undefined) return;
    const kept = await busId(this.#id ?? randomUUID()).catch(() => undefined); // It is asked again.
    if (signal.aborted || kept === undefined || kept === this.#id) return;
    if (this.#id === undefined) {
      this.#id = kept;
      this.#isNamed = true;
      named();
      return;
    }
    const fields = { groupId, expected: this.#id, got: kept };
    this.#tell(kept, () =>
      log.error(fields, 'Redis has the id of another bus than the group was joined for'),
    );
  }

  async #look(topics: readonly string[]): Promise<void> {
    const { driver, groupId, log } = this.#options;
    try {
      const group = await driver.describeGroup(groupId, topics);
      this.#measure(group);
      const found = [...busesIn(group)].filter((bus) => bus !== this.#id).join(', ');
      if (found === '') return;
      const fields = { groupId, expected: this.#id, got: found };
      this.#tell(found, () => log.error(fields, INTRUDERS));
    } catch (thrown) {
      log.debug({ groupId, error: messageOf(thrown) }, 'could not look at the consumer group');
    }
  }

  #measure({ texts }: GroupDescription): void {
    const { foreignPositions } = this.#options.metrics;
    const buses = texts.map((text) => readPositionText(text)?.bus);
    const none = buses.filter((bus) => bus === undefined).length;
    const own = buses.filter((bus) => bus !== undefined && bus === this.#id).length;
    foreignPositions.set({ bus: 'none' }, none);
    foreignPositions.set({ bus: 'other' }, buses.length - own - none);
  }

  #tell(what: string | undefined, log: () => void): void {
    if (what !== undefined && what !== this.#told) log();
    this.#told = what;
  }
}

function busesIn({ texts }: GroupDescription): ReadonlySet<string> {
  const buses = texts.map((text) => readPositionText(text)?.bus);
  return new Set(buses.filter((bus) => bus !== undefined));
}
