/**
 * Keys and channels of the bus's own, beside those of the topics: Kafka's topic names have no `@`. A REDIS_PREFIX keeps
 * them apart from those of other gateways.
 */
export class BusNames {
  /** Carries the names of topics of which publishers may have lost messages, as a JSON list. */
  readonly gapsChannel: string;
  /** Carries the names of topics that were published to without a new version, and have one now, as a JSON list. */
  readonly renewalsChannel: string;
  /** Carries what pods ask each other: whether they have heard what was published before. */
  readonly questionsChannel: string;
  /** Carries where publishers are in Kafka, and the question where they are. */
  readonly positionsChannel: string;
  /** Carries what no pod may miss. */
  readonly announcementsChannel: string;
  /** The key that holds it for pods that do not listen at present. */
  readonly announcementsKey: string;
  /** The key that holds the id of the bus. */
  readonly idKey: string;
  readonly #prefix: string;
  /** In names that do not hold their slot anyway. */
  readonly #slot: string;

  /** @param word of which all names have the slot, in a cluster: see `slotOf` */
  constructor(prefix: string, word?: string) {
    this.#prefix = prefix;
    this.#slot = word === undefined ? '' : `:{${word}}`;
    this.gapsChannel = `${prefix}@gaps${this.#slot}`;
    this.renewalsChannel = `${prefix}@renewals${this.#slot}`;
    this.questionsChannel = `${prefix}@questions${this.#slot}`;
    this.positionsChannel = `${prefix}@positions${this.#slot}`;
    this.announcementsChannel = `${prefix}@revocations${this.#slot}`;
    this.announcementsKey = `${prefix}@revocations${this.#slot}`;
    this.idKey = `${prefix}@bus${this.#slot}`;
  }

  /** The key that holds the version of a topic. */
  versionKey(topic: string): string {
    return `${this.#prefix}@version${this.#slot}:${topic}`;
  }

  /** The key that holds the state of a topic's history; those of its lists begin with it. */
  historyKey(topic: string): string {
    return `${this.#prefix}@history:{${topic}}`;
  }

  /** The key that holds one generation of the keys that were deleted in an epoch of the topic's history. */
  deletedKey(topic: string, epoch: string, generation: number): string {
    return `${this.historyKey(topic)}@deleted:${epoch}:${generation}`;
  }

  /** The key that holds the number of the last question by which a pod has passed over something of the topic. */
  passedOverKey(topic: string, asker: string): string {
    return `${this.historyKey(topic)}@passed:${asker}`;
  }

  /** The channel by which a pod is answered. */
  podChannel(pod: string): string {
    return `${this.#prefix}@pod${this.#slot}:${pod}`;
  }

  /** The channel by which a pod hears itself, of one connection alone: Redis may still count those that are lost. */
  connectionChannel(pod: string, connection: number): string {
    return `${this.podChannel(pod)}:${connection}`;
  }
}
