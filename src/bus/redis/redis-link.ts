import { randomUUID } from 'node:crypto';
import type { Deletions } from '../../events/deletion.ts';
import type { HistorySettings } from '../../events/history-settings.ts';
import type { Publication } from '../../events/publisher.ts';
import { ownBytes } from '../../support/byte-budget.ts';
import { systemClock } from '../../support/clock.ts';
import type { GapListener, KnownAnnouncements, Listener } from '../bus.ts';
import { Announcements } from './announcements.ts';
import { busId } from './bus-id.ts';
import { GapDetector } from './gap-detector.ts';
import type { HistoryBounds, HistoryPosition, HistoryRead } from '../history.ts';
import { Histories } from './histories.ts';
import { Heartbeat } from './heartbeat.ts';
import { MissedMessages } from './missed-messages.ts';
import { NOT_REACHED } from './master.ts';
import type { BusNames } from './names.ts';
import { OwnChannels, type Refused } from './own-channels.ts';
import { PacedPublishing } from './paced-publishing.ts';
import { Publishing } from './publishing.ts';
import type { RedisLinkOptions } from './redis-link-options.ts';
import { BUS_TIMING } from './timing.ts';
import { lossesIn, topicsIn } from './topic-list.ts';

const MISSED_BYTES = 64 * 1024 * 1024;

const NOT_SUBSCRIBED = 'this pod is not subscribed to Redis at present';

const GAPS_REFUSED =
  'Redis refuses the gateway’s own channels; until it does not, events count as missed after each lost connection';

/**
 * The link of a pod to one Redis server at a time: one connection to publish and one to listen.
 *
 * While this pod does not listen, publishing fails too, as its own subscribers would miss the messages. Joining waits until
 * Redis is reachable. After a lost connection the pod finds out what it may have missed: see GapDetector.
 */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  /** Channels that are joined or being joined. */
  readonly #joined = new Set<string>();
  readonly #names: BusNames;
  readonly #pod = randomUUID();
  readonly #histories: Histories;
  readonly #publishing: Publishing;
  readonly #paced: PacedPublishing;
  readonly #gaps: GapDetector;
  readonly #heartbeat: Heartbeat;
  readonly #missed: MissedMessages;
  readonly #announcements: Announcements;
  readonly #own: OwnChannels;
  readonly #refused: Refused = {
    level: 'warn',
    message: GAPS_REFUSED,
    act: () => this.#heartbeat.refused(),
  };
  #isListening = false;
  #hasListened = false;
  #isPaused = false;
  #onDeaf: (isDeaf: boolean) => void = () => undefined;
  /** Called once this pod listens. */
  #untilListening: (() => void)[] = [];
  readonly #stopping = new AbortController();

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    const { commands, listening, names, countsSubscribers, metrics, log } = options;
    const { clock = systemClock, timing = BUS_TIMING, countsReceivers = countsSubscribers } = options;
    const pod = this.#pod;
    const stopping = this.#stopping.signal;
    const missedRoom = options.missedRoom ?? ownBytes(MISSED_BYTES);
    const common = { commands, listening, names, pod, clock, timing, log };
    this.#gaps = new GapDetector(clock.now);
    this.#names = names;
    this.#histories = new Histories({
      ...common,
      settings: options.histories ?? new Map(),
      listensHere: () => this.#heartbeat.listensHere(),
      missedRoom,
      lost: (topic) => this.#gaps.trust(topic),
      missed: (topic) => this.#gaps.missed(topic),
      wasRead: (topic) => {
        if (this.#gaps.wasRead(topic, this.#histories.isHolding(topic))) this.#heartbeat.beat();
      },
      healed: (topic) => this.#gaps.settle(topic),
    });
    const histories = this.#histories.byTopic;
    this.#publishing = new Publishing({
      ...common,
      connection: commands,
      histories,
      countsSubscribers,
      // This pod may listen to the same server: later messages from there may come after missed ones.
      foundReplica: () => {
        this.#heartbeat.forget();
        this.#missed.doubt();
      },
      metrics,
    });
    this.#paced = new PacedPublishing(
      {
        ...common,
        publishing: this.#publishing,
        countsReceivers,
        histories,
        expectListening: () => this.#expectListening(),
        stopping,
      },
      options.paces,
    );
    this.#missed = new MissedMessages({
      ...common,
      consumption: options.consumption ?? (() => undefined),
      histories,
      publishes: () => this.#publishing.isUsable,
      lost: (topic) => this.#gaps.trust(topic),
      read: (topic) => this.#gaps.settle(topic),
      missed: (topic, isCertain) => this.#missedTopic(topic, isCertain),
      room: missedRoom,
      metrics,
    });
    this.#own = new OwnChannels({
      ...common,
      isReading: () => this.#isListening && !this.#isPaused,
      signal: stopping,
    });
    this.#heartbeat = new Heartbeat({
      ...common,
      own: this.#own,
      refused: this.#refused,
      publishing: this.#publishing,
      gaps: this.#gaps,
      certainty: {
        heard: () => {
          this.#histories.heardBeat();
          this.#missed.heardBeat();
        },
        confirm: () => {
          this.#histories.confirm();
          this.#missed.confirm();
        },
        doubt: () => {
          this.#histories.doubt();
          this.#missed.doubt();
        },
      },
      countsReceivers,
      deaf: (isDeaf) => this.#onDeaf(isDeaf),
    });
    this.#announcements = new Announcements({ ...common, own: this.#own });
    this.#becomeListening(false);
  }

  start(): void {
    const { listening } = this.#options;
    this.#publishing.start(() => this.#heartbeat.beat());
    this.#histories.start(this.#stopping.signal);
    listening.start({ onReady: () => this.#onListening(), onLost: () => this.#onLost() });
    void this.#listenToPods();
    void this.#announcements.start();
  }

  stop(): void {
    this.#stopping.abort();
    this.#becomeListening(false);
    this.#heartbeat.stop();
    this.#announcements.stop();
    this.#missed.stop();
    this.#publishing.stop();
    this.#options.listening.stop();
  }

  notReady(): string | undefined {
    return this.#publishing.wasReached && this.#hasListened ? undefined : NOT_REACHED;
  }

  position(topic: string): HistoryPosition | undefined {
    return this.#histories.position(topic);
  }

  readHistory(
    topic: string,
    channels: readonly string[],
    since: number,
    bounds: HistoryBounds,
  ): Promise<HistoryRead> {
    if (channels.length > 0) this.#gaps.beginsWithHistory(topic);
    return this.#histories.read(topic, channels, since, bounds);
  }

  deletions(topic: string, epoch: string, keys: readonly string[]): Promise<Deletions> {
    return this.#histories.deletions(topic, epoch, keys);
  }

  /** @returns the topics whose channels are to be listened to again, by `listenAgain` */
  keep(histories: ReadonlyMap<string, HistorySettings>): ReadonlySet<string> {
    const changed = this.#histories.change(histories);
    for (const topic of changed) this.#missed.end(topic);
    return new Set(changed);
  }

  onGap(listener: GapListener): void {
    this.#gaps.onGap(listener);
  }

  /** See `Bus.onDeaf`. */
  onDeaf(listener: (isDeaf: boolean) => void): void {
    this.#onDeaf = listener;
  }

  announce(text: string, keepMs: number): Promise<void> {
    return this.#announcements.send([text], keepMs);
  }

  onAnnouncement(listener: (text: string) => void, known?: KnownAnnouncements): void {
    this.#announcements.hear(listener, known);
  }

  get announcementsAreHeard(): boolean {
    return this.#announcements.areHeard;
  }

  id(proposed?: string): Promise<string | undefined> {
    return busId(this.#options.commands, this.#names.idKey, proposed);
  }

  pause(): void {
    this.#isPaused = true;
    this.#heartbeat.pause(true);
    this.#missed.pause();
    this.#options.listening.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#heartbeat.pause(false);
    this.#missed.resume();
    this.#options.listening.resume();
  }

  async subscribed(topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    this.#expectListening();
    return this.#publishing.subscribed(topic, channels);
  }

  publish(topic: string, batch: readonly Publication[]): Promise<void> {
    return this.#paced.publish(topic, batch);
  }

  /** Resolves when Redis has acknowledged it; from then on `listener` is called with each message. */
  async join(topic: string, channel: string, listener: Listener): Promise<void> {
    const { listening } = this.#options;
    this.#joined.add(channel);
    await listening.join(channel, this.#listen(topic, channel, listener)).catch((thrown: unknown) => {
      this.#stopListening(topic, channel);
      this.#joined.delete(channel);
      throw thrown;
    });
    // If the connection were lost before it counts as ready, what this channel missed would go unnoticed.
    while (!this.#isListening) {
      await new Promise<void>((resolve) => this.#untilListening.push(resolve));
    }
    if (this.#gaps.joined(topic)) this.#heartbeat.beat();
    await this.#histories.joined(topic, channel);
  }

  /** Replaces the listener with which the channel was joined, or is being joined. */
  async listenAgain(topic: string, channel: string, listener: Listener): Promise<void> {
    const { listening } = this.#options;
    await listening.join(channel, this.#listen(topic, channel, listener));
    if (this.#joined.has(channel)) await this.#histories.joined(topic, channel);
    else listening.leave(channel);
  }

  /** Only for a channel whose join has resolved. */
  leave(topic: string, channel: string): void {
    this.#gaps.left(topic);
    this.#stopListening(topic, channel);
    this.#joined.delete(channel);
    this.#options.listening.leave(channel);
  }

  #listen(topic: string, channel: string, listener: Listener): Listener {
    return this.#histories.listen(topic, channel, this.#missed.listen(topic, channel, listener));
  }

  #stopListening(topic: string, channel: string): void {
    this.#histories.left(topic, channel);
    this.#missed.left(topic, channel);
  }

  async #listenToPods(): Promise<void> {
    const refused = this.#refused;
    let isLate = false;
    const missing: Refused = {
      ...refused,
      act: () => {
        isLate = true;
        refused.act();
      },
    };
    await Promise.all([
      this.#own.join(this.#names.gapsChannel, (payload) => this.#onGaps(payload), missing),
      this.#own.join(this.#names.renewalsChannel, (payload) => this.#onRenewals(payload), missing),
    ]);
    // This pod could not hear reports of losses meanwhile.
    if (isLate) this.#gaps.assumeAllMissed();
    const heard = (payload: string): void => {
      if (this.#paced.heard(payload) || this.#missed.heard(payload)) return;
      this.#heartbeat.heard(payload);
    };
    const channel = this.#names.podChannel(this.#pod);
    await this.#own.join(channel, (payload) => heard(payload.toString()), refused);
    if (!this.#stopping.signal.aborted) this.#heartbeat.start();
    await Promise.all([this.#paced.start(this.#own), this.#missed.start(this.#own)]);
  }

  /** Some pod has published messages that Redis has lost since, so this pod may not have heard them. */
  #onGaps(payload: Buffer | string): void {
    for (const { topic, ageMs } of lossesIn(payload)) {
      if (ageMs !== undefined && this.#gaps.wasReportedWithin(topic, ageMs)) continue;
      if (this.#missed.mayMiss(topic)) continue;
      this.#gaps.announced(topic, this.#histories.isHolding(topic));
    }
  }

  /** Messages of the topic may be missing, and can't be read. @param isCertain whether a publisher has said that some are */
  #missedTopic(topic: string, isCertain: boolean): void {
    this.#gaps.distrust(topic);
    if (isCertain) this.#gaps.announced(topic);
    this.#heartbeat.beat();
  }

  #onRenewals(payload: Buffer | string): void {
    for (const topic of topicsIn(payload)) this.#gaps.renewed(topic);
  }

  /** A deaf pod may publish: it has sent its subscribers to other pods, which wait for the events that it is processing. */
  #expectListening(): void {
    if (!this.#isListening && !this.#heartbeat.isDeaf) throw new Error(NOT_SUBSCRIBED);
  }

  #onListening(): void {
    this.#becomeListening(true);
    this.#hasListened = true;
    for (const resolve of this.#untilListening.splice(0)) resolve();
    this.#heartbeat.connected();
    this.#histories.listens();
    this.#missed.listens();
    this.#announcements.listens();
  }

  #becomeListening(isListening: boolean): void {
    this.#isListening = isListening;
    this.#options.metrics.busConnected.set({ connection: 'listening' }, isListening ? 1 : 0);
  }

  #onLost(): void {
    if (!this.#isListening) return;
    this.#becomeListening(false);
    this.#heartbeat.disconnected();
    this.#histories.lost();
    this.#missed.lost();
    this.#options.metrics.busOutages.inc();
    this.#options.log.warn(
      'the subscribing connection to Redis is lost; events that other pods publish meanwhile do not reach this one',
    );
  }
}
