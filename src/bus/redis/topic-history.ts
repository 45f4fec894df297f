import { interestMs, type HistorySettings } from '../../events/history-settings.ts';
import { isAfter, type LogPosition } from '../../events/log-position.ts';
import type { Publication } from '../../events/publisher.ts';
import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import {
  branchOf,
  newEpoch,
  NoHistory,
  type HistoryBounds,
  type HistoryPosition,
  type HistoryRead,
} from '../history.ts';
import { AcknowledgedOffsets } from './acknowledged-offsets.ts';
import { valueOf, type Command, type CommandConnection } from './connection.ts';
import { APPEND, INTEREST, JOIN } from './history-scripts.ts';
import { ListReading, type JoinReply } from './list-reading.ts';
import type { BusNames } from './names.ts';
import { PassedOver } from './passed-over.ts';
import { NO_POSITION, readPosition, writePosition } from './position-field.ts';
import { isNotPermitted, isNotWritable, isRefusal } from './refusals.ts';

export interface TopicHistoryOptions {
  readonly topic: string;
  readonly settings: HistorySettings;
  readonly connection: Pick<CommandConnection, 'send'>;
  readonly names: BusNames;
  /** The last message that this pod has heard. */
  readonly heard: () => HistoryPosition | undefined;
  /** Called whenever messages have been read. */
  readonly wasRead: () => void;
  /** Called with the topic's position whenever channels have been renewed. */
  readonly stands: (position: HistoryPosition) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Channels in one script: Redis does nothing else while it runs. */
const CHANNELS_PER_SCRIPT = 500;

/** APPEND returns it in place of the number of events left out: it has published nothing. */
const NOT_PUBLISHED = -1;

/** In place of a sequence, where nothing is to be read. */
const NOTHING = -1;
const NO_BOUNDS: readonly string[] = ['0', '0', '0', '0'];

/** What a pod asks Redis for. */
type Work = 'ask' | 'publish' | 'keep';

/** The pause before keeping is tried again, after Redis was down or busy: the channels lack what comes meanwhile. */
const KEEP_AGAIN_MS = 500;

/** How often pods renew a channel that they listen to within the time that it is kept. */
const RENEWALS_PER_TTL = 3;

/** Channels that were subscribed to while Redis was asked to keep others: Redis is asked for them together. */
interface Joining {
  readonly channels: string[];
  readonly at: Promise<HistoryPosition | undefined>;
}

/** The history of one topic in Redis: what a pod publishes into it, keeps alive, and reads. */
export class TopicHistory {
  readonly passedOver: PassedOver;
  readonly #options: TopicHistoryOptions;
  #settings: HistorySettings;
  /** The channels that this pod is subscribed to. */
  readonly #channels = new Set<string>();
  readonly #acknowledged = new AcknowledgedOffsets();
  /** Waiting channels, to which others may be added. */
  #joining: Joining | undefined;
  /** Resolves once Redis has answered the last question to keep channels. Undefined: no question is under way. */
  #asking: Promise<unknown> | undefined;
  /** The work that Redis refuses for this topic at present. */
  readonly #refused = new Set<Work>();
  #keptAgain: Promise<HistoryPosition | undefined> | undefined;
  #stopping = new AbortController().signal;

  constructor(options: TopicHistoryOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.passedOver = new PassedOver(options);
  }

  /** Changes how much is kept from now on. */
  change(settings: HistorySettings): void {
    this.#settings = settings;
  }

  /** Whether all channels are kept, so that there is nothing to ask. */
  get keepsAll(): boolean {
    return this.#settings.keepsAll;
  }

  /** Asks which channels are kept or subscribed to: see INTEREST. @param question its number */
  asksFor(channels: readonly string[], version: string, question: number): Command {
    return this.#script(INTEREST, version, this.passedOver.key, String(question), ...channels);
  }

  /** The epoch that this pod knows; empty before the first one. */
  get epoch(): string {
    return this.#acknowledged.epoch;
  }

  /** @param inEpoch the only epoch to publish in; `ANY_EPOCH`: whichever it is */
  publishes(batch: readonly Publication[], version: string, inEpoch: string): Command {
    const { topic, names } = this.#options;
    const { size, ttlMs, keepsAll } = this.#settings;
    const partitions = [...lastPositions(batch).keys()];
    const acknowledged = partitions.flatMap((partition) => [
      partition,
      writePosition(this.#acknowledged.of(partition)),
    ]);
    return this.#script(
      APPEND,
      version,
      String(size),
      String(keepsAll ? ttlMs : -ttlMs),
      names.gapsChannel,
      JSON.stringify([topic]),
      inEpoch,
      String(partitions.length),
      ...acknowledged,
      ...eventsIn(batch),
    );
  }

  /**
   * @param reply to what `publishes` has sent
   * @returns false if nothing was published, since this pod did not know the epoch
   */
  published(batch: readonly Publication[], reply: unknown): boolean {
    const [dropped, epoch, sequence = 0] = reply as [dropped: number, epoch: string, sequence?: number];
    const isPublished = dropped !== NOT_PUBLISHED;
    this.#acknowledged.note(epoch, isPublished ? lastPositions(batch) : new Map(), sequence);
    return isPublished;
  }

  /**
   * Whether the server lacks what a server has acknowledged to this pod before, or a question after which this pod has
   * passed over events that others may have listened to here.
   *
   * @throws if it can't be asked
   */
  async isLost(): Promise<boolean> {
    return (await this.passedOver.isUnknown()) || (await this.#lacksAcknowledged());
  }

  async #lacksAcknowledged(): Promise<boolean> {
    const { topic, connection, names } = this.#options;
    const { epoch, sequence, partitions } = this.#acknowledged;
    if (epoch === '') return false;
    const fields = ['epoch', 'seq', `branch:${branchOf({ sequence })}`, ...partitions];
    const [reply] = await connection.send([['HMGET', names.historyKey(topic), ...fields]]);
    // This pod may not read the key any more.
    if (isRefusal(reply)) return true;
    const [present, last, branchEnd, ...held] = valueOf(reply) as (string | null)[];
    if (present !== epoch) return true;
    // Other pods may have published later events of the same partitions there. A branch without an end is not known there.
    const isOfBranch = branchOf({ sequence: Number(last) }) === branchOf({ sequence });
    if (sequence > Number(isOfBranch ? last : branchEnd)) return true;
    return partitions.some((partition, index) =>
      isAfter(this.#acknowledged.of(partition), readPosition(held[index])),
    );
  }

  /**
   * Has Redis keep a channel that this pod has subscribed to. A client may join thousands at once: channels that come while
   * a question is under way share the next one.
   *
   * @returns the topic's position when Redis began to keep the channel; undefined if Redis refuses to
   */
  joined(channel: string): Promise<HistoryPosition | undefined> {
    this.#channels.add(channel);
    const last = this.#joining;
    if (last === undefined || last.channels.length >= CHANNELS_PER_SCRIPT) return this.#keepBehind([channel]);
    last.channels.push(channel);
    return last.at;
  }

  /** Has Redis keep channels at once, or after the ones before: until then, others may be added. */
  #keepBehind(channels: string[]): Promise<HistoryPosition | undefined> {
    const before = this.#asking;
    const at = before === undefined ? this.#keep(channels) : before.then(() => this.#keepNext(channels));
    if (before !== undefined) this.#joining = { channels, at };
    this.#asking = at;
    void at.finally(() => {
      if (this.#asking === at) this.#asking = undefined;
    });
    return at;
  }

  #keepNext(channels: readonly string[]): Promise<HistoryPosition | undefined> {
    if (this.#joining?.channels === channels) this.#joining = undefined;
    return this.#keep(channels);
  }

  /** Resolves as `joined`, after another attempt at what Redis could not keep. Undefined: there is nothing to try again. */
  get keptAgain(): Promise<HistoryPosition | undefined> | undefined {
    return this.#keptAgain;
  }

  left(channel: string): void {
    this.#channels.delete(channel);
  }

  /** Logs one line until Redis does again what it has refused. @param refusal undefined if Redis has done the work */
  noteRefusal(work: Work, refusal: string | undefined): void {
    const { topic, log } = this.#options;
    if (refusal === undefined) {
      this.#refused.delete(work);
      return;
    }
    if (this.#refused.size === 0) {
      log.warn({ topic, reason: refusal }, 'the history of a topic can not be kept');
    }
    this.#refused.add(work);
  }

  /** Renews all channels again and again, until the signal aborts. */
  async keepRenewing(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#stopping = signal;
    while (!signal.aborted) {
      await clock.sleep(interestMs(this.#settings) / RENEWALS_PER_TTL, signal);
      if (!signal.aborted) await this.renew();
    }
  }

  /** @returns where the topic stood then; undefined if not all could be kept */
  renew(): Promise<HistoryPosition | undefined> {
    return this.#keep([...this.#channels]);
  }

  /**
   * @param since sequence of the last message that is not needed
   * @throws NoHistory, or another error if the connection is lost, or Redis can't do it just now
   */
  async read(since: number, channels: readonly string[], bounds: HistoryBounds): Promise<HistoryRead> {
    const reading = new ListReading(channels, bounds);
    while (!reading.isOver) {
      const reply = await this.#join(reading.next(CHANNELS_PER_SCRIPT), since, reading.bounds);
      if (reading.position !== undefined && reading.position.epoch !== reply[0]) {
        throw new NoHistory(this.#options.topic, 'it has just begun anew');
      }
      reading.take(reply);
    }
    this.#options.wasRead();
    return reading.read(this.#settings.size);
  }

  /** @returns where the topic stood then; undefined if not all could be kept */
  async #keep(channels: readonly string[]): Promise<HistoryPosition | undefined> {
    const { stands } = this.#options;
    let position: HistoryPosition | undefined;
    try {
      for (const some of inGroups(channels)) {
        const [epoch, sequence] = await this.#join(some, NOTHING);
        position = { epoch, sequence };
        await stands(position);
      }
      this.noteRefusal('keep', undefined);
      return position;
    } catch (thrown) {
      this.noteRefusal('keep', messageOf(thrown));
      if (!(thrown instanceof NoHistory && isNotPermitted(thrown.reason)))
        this.#keptAgain ??= this.#keepAgain();
      return undefined;
    }
  }

  async #keepAgain(): Promise<HistoryPosition | undefined> {
    await this.#options.clock.sleep(KEEP_AGAIN_MS, this.#stopping);
    this.#keptAgain = undefined;
    return this.#stopping.aborted ? undefined : this.renew();
  }

  /**
   * @param bounds arguments 8 to 11 of JOIN
   * @throws NoHistory, or another error if the connection is lost, or Redis can't do it just now
   */
  async #join(channels: readonly string[], since: number, bounds = NO_BOUNDS): Promise<JoinReply> {
    const { topic, connection, heard } = this.#options;
    const { epoch: lastEpoch = '', sequence: last = 0 } = heard() ?? {};
    const { ttlMs } = this.#settings;
    const times = [String(ttlMs), String(interestMs(this.#settings))];
    const args = [...times, String(since), lastEpoch, String(last), ...bounds];
    const [reply] = await connection.send([this.#script(JOIN, ...args, ...channels)]);
    try {
      return valueOf(reply) as JoinReply;
    } catch (thrown) {
      const reason = messageOf(thrown);
      if (isNotPermitted(reason) || isNotWritable(reason)) throw new NoHistory(topic, reason);
      // A replica refuses, and so does a server that is busy or loads its data: that may end soon.
      throw thrown;
    }
  }

  #script(script: string, ...args: string[]): Command {
    const { topic, names } = this.#options;
    const keys = [names.historyKey(topic), names.versionKey(topic)];
    return ['EVAL', script, '2', ...keys, newEpoch(), `${names.historyKey(topic)}:`, ...args];
  }
}

/** Returns the partition's name in history scripts. */
function partitionOf({ source }: Publication): string {
  return `offset:${source?.topicId ?? ''}:${source?.partition ?? ''}`;
}

/** The last position of each partition, of events that come from Kafka. */
function lastPositions(batch: readonly Publication[]): ReadonlyMap<string, LogPosition> {
  const positions = new Map<string, LogPosition>();
  for (const publication of batch) {
    const { source } = publication;
    if (source !== undefined) positions.set(partitionOf(publication), source);
  }
  return positions;
}

/** See APPEND. Publications of one event follow each other, and have the same payload. */
function eventsIn(batch: readonly Publication[]): string[] {
  let count = 0;
  const args: string[] = [];
  for (let index = 0; index < batch.length; count += 1) {
    const first = batch[index] as Publication;
    const position = writePosition(first.source ?? NO_POSITION);
    if (first.deletes !== undefined) {
      args.push(partitionOf(first), position, first.deletes, '0');
      index += 1;
      continue;
    }
    const channels: string[] = [];
    for (; batch[index]?.payload === first.payload; index += 1) channels.push(batch[index]?.channel ?? '');
    args.push(partitionOf(first), position, first.payload.slice(1), String(channels.length), ...channels);
  }
  return [String(count), ...args];
}

/** Splits channels into groups, so that no script takes Redis long. */
export function* inGroups(channels: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < channels.length; from += CHANNELS_PER_SCRIPT) {
    yield channels.slice(from, from + CHANNELS_PER_SCRIPT);
  }
}
