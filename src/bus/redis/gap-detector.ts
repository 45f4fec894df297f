import type { GapListener } from '../bus.ts';

/** Publishers renew versions within some heartbeats. */
const RENEWAL_MS = 10_000;

type Versions = ReadonlyMap<string, string | null>;

/**
 * Finds out, after a lost connection, which topics this pod may have missed messages of. Each published chunk gives its
 * topic a new version:
 *
 *     versions read ──► message to oneself heard: all up to these versions has been heard
 *     connection lost ──► a new one ──► versions read: those that are others than were heard last have a gap
 *
 * It errs on the safe side: it also reports a gap if only other channels of the topic were published to, or if messages
 * came just before the connection was lost.
 */
export class GapDetector {
  /** Topics that this pod listens to, with their channels. */
  readonly #channels = new Map<string, number>();
  /** By topic: the version up to which this pod has heard all messages. */
  readonly #heard = new Map<string, string>();
  /** Topics that may have a gap, until their versions are compared. */
  readonly #suspects = new Set<string>();
  /** Topics with possibly missed messages, which are being read: these topics keep their former versions. */
  readonly #trusted = new Set<string>();
  /** Suspects, and topics being read, for which a publisher has reported that Redis has lost messages. */
  readonly #announced = new Set<string>();
  /** When versions were compared after the last lost connection, or history was read, by topic: ms. */
  readonly #comparedAt = new Map<string, number>();
  /** When a gap was last reported, by topic: ms. Forgotten once a subscriber reads the history: it got no gap. */
  readonly #reportedAt = new Map<string, number>();
  readonly #now: () => number;
  #listener: GapListener = () => undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  onGap(listener: GapListener): void {
    this.#listener = listener;
  }

  get topics(): readonly string[] {
    return [...this.#channels.keys()];
  }

  /** A channel of the topic has been joined. @returns whether it is the first one */
  joined(topic: string): boolean {
    const count = this.#channels.get(topic) ?? 0;
    this.#channels.set(topic, count + 1);
    return count === 0;
  }

  left(topic: string): void {
    const count = this.#channels.get(topic) ?? 0;
    if (count > 1) {
      this.#channels.set(topic, count - 1);
      return;
    }
    this.#channels.delete(topic);
    this.#heard.delete(topic);
    this.#suspects.delete(topic);
    this.#trusted.delete(topic);
    this.#announced.delete(topic);
    this.#comparedAt.delete(topic);
    this.#reportedAt.delete(topic);
  }

  /** The connection is lost, or its server was a replica for a while: this pod may have missed something of each topic. */
  suspectAll(): void {
    this.#trusted.clear();
    for (const topic of this.#channels.keys()) this.#suspects.add(topic);
  }

  /**
   * The topic is being read, from its history or from Kafka, from the position that this pod had heard: that needs no
   * versions. Channels that were asked for while this connection was silent may be joined only over the next one.
   */
  trust(topic: string): void {
    this.#suspects.delete(topic);
    this.#trusted.add(topic);
  }

  /** Called when the topic has been read. */
  settle(topic: string): void {
    this.#trusted.delete(topic);
    if (this.#announced.delete(topic)) this.report(topic);
  }

  /** The pod can't read what it missed from the topic's history, or may have missed more than it has read. */
  missed(topic: string): void {
    this.#trusted.delete(topic);
    if (this.#announced.delete(topic)) this.#suspects.delete(topic);
    this.report(topic);
  }

  /**
   * A publisher reports lost messages. Until it is known what the lost connection cost, one gap covers both.
   *
   * @param isHeld whether the topic's messages are held: `settle` or `missed` follows
   */
  announced(topic: string, isHeld = false): void {
    if (!this.#channels.has(topic)) return;
    if (isHeld) this.trust(topic);
    if (this.#suspects.has(topic) || this.#trusted.has(topic)) this.#announced.add(topic);
    else this.report(topic);
  }

  /** The topic can't be read: versions tell whether anything was missed. */
  distrust(topic: string): void {
    if (this.#trusted.delete(topic)) this.#suspects.add(topic);
  }

  /**
   * Notes that the topic's missed messages have been read from its history, which lacks what was published while Redis took
   * no writes.
   *
   * @param isHeld whether the topic's messages are held: `settle` or `missed` follows
   * @returns whether to compare versions soon, and so report a loss that was announced meanwhile
   */
  wasRead(topic: string, isHeld = false): boolean {
    if (this.#channels.has(topic)) this.#comparedAt.set(topic, this.#now());
    if (isHeld) return false;
    this.#trusted.delete(topic);
    const isAnnounced = this.#announced.has(topic);
    // The reader may still find messages missing, and call `missed`. If not, the next comparison of versions reports the
    // gap.
    if (isAnnounced) this.#suspects.add(topic);
    return isAnnounced;
  }

  /** These versions were read after the channels had been joined again. */
  compare(versions: Versions): void {
    for (const topic of this.#suspects) {
      const version = versions.get(topic);
      if (version === undefined) continue;
      this.#suspects.delete(topic);
      this.#comparedAt.set(topic, this.#now());
      const isAnnounced = this.#announced.delete(topic);
      if (isAnnounced || version === null || version !== this.#heard.get(topic)) this.report(topic);
    }
  }

  /** Versions can't be read: it is unknown what the lost connection cost, so all suspects count as missed. */
  assumeMissed(): void {
    this.compare(new Map([...this.#suspects].map((topic) => [topic, null])));
  }

  /** This pod could not hear reports of losses: all topics count as missed. */
  assumeAllMissed(): void {
    for (const topic of this.#channels.keys()) this.report(topic);
  }

  /** Until now, the topic was published to without a new version: a comparison shortly before told nothing. */
  renewed(topic: string): void {
    const comparedAt = this.#comparedAt.get(topic);
    if (comparedAt !== undefined && this.#now() - comparedAt <= RENEWAL_MS) this.report(topic);
  }

  /** This pod has heard all messages up to these versions. */
  heard(versions: Versions): void {
    for (const [topic, version] of versions) {
      if (!this.#channels.has(topic) || this.#suspects.has(topic) || this.#trusted.has(topic)) continue;
      if (version === null) this.#heard.delete(topic);
      else this.#heard.set(topic, version);
    }
  }

  report(topic: string): void {
    if (!this.#channels.has(topic)) return;
    this.#reportedAt.set(topic, this.#now());
    this.#listener(topic);
  }

  /** A subscriber reads the topic's history. It got no earlier gap, so losses announced from now on are reported. */
  beginsWithHistory(topic: string): void {
    this.#reportedAt.delete(topic);
  }

  /** Whether a gap was reported at most `ageMs` ago: that gap covers all that was missed before it. */
  wasReportedWithin(topic: string, ageMs: number): boolean {
    const reportedAt = this.#reportedAt.get(topic);
    return reportedAt !== undefined && this.#now() - reportedAt <= ageMs;
  }
}
