/**
 * The bus's own keys and channels, beside those of topics: Kafka's topic names have no `@`. A REDIS_PREFIX keeps them apart
 * from those of other gateways.
 */
export class BusNames {
  /** Carries the names of topics with messages that may be lost, as a JSON list. */
  readonly gapsChannel: string;
  /** Carries the names of topics that were published to without a new version, and have one now, as a JSON list. */
  readonly renewalsChannel: string;
  /** Carries the questions of pods to each other: whether they have heard what was published before. */
  readonly questionsChannel: string;
  /** Carries the positions of publishers in Kafka, and questions for them. */
  readonly positionsChannel: string;
  /** Carries announcements, which no pod may miss. */
  readonly announcementsChannel: string;
  /** The key that holds announcements for pods that do not listen at present. */
  readonly announcementsKey: string;
  /** The key that holds the id of the bus. */
  readonly idKey: string;
  readonly #prefix: string;
  /** Part of the names that do not hold their slot anyway. */
  readonly #slot: string;

  /** @param word that gives all names their slot, in a cluster: see `slotOf` */
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

  /** The key that holds the state of a topic's history; the keys of its lists begin with it. */
  historyKey(topic: string): string {
    return `${this.#prefix}@history:{${topic}}`;
  }

  /** The key that holds one generation of the Kafka keys that were deleted in an epoch of the topic's history. */
  deletedKey(topic: string, epoch: string, generation: number): string {
    return `${this.historyKey(topic)}@deleted:${epoch}:${generation}`;
  }

  /** The key that holds the number of the last question by which a pod has passed over something of the topic. */
  passedOverKey(topic: string, asker: string): string {
    return `${this.historyKey(topic)}@passed:${asker}`;
  }

  /** The channel over which a pod gets answers. */
  podChannel(pod: string): string {
    return `${this.#prefix}@pod${this.#slot}:${pod}`;
  }

  /** The channel over which a pod hears itself on one connection alone: Redis may still count lost connections. */
  connectionChannel(pod: string, connection: number): string {
    return `${this.podChannel(pod)}:${connection}`;
  }
}
