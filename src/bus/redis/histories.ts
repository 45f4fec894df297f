import { messageOf } from '../../errors.ts';
import type { Deletions } from '../../events/deletion.ts';
import type { HistorySettings } from '../../events/history-settings.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import type { Listener } from '../bus.ts';
import { NoHistory, type HistoryBounds, type HistoryPosition, type HistoryRead } from '../history.ts';
import type { ByteSource } from '../../support/byte-budget.ts';
import type { CommandConnection, ListeningConnection } from './connection.ts';
import { readDeletions } from './deleted-keys.ts';
import type { BusNames } from './names.ts';
import { TopicHistory } from './topic-history.ts';
import { TopicListener } from './topic-listener.ts';

/** The pause between attempts to read history, as while Redis is out of reach, and the longest time for all of them. */
const RETRY_MS = 100;
const LONGEST_MS = 30_000;

interface HistoriesOptions {
  /** By topic. */
  readonly settings: ReadonlyMap<string, HistorySettings>;
  readonly commands: Pick<CommandConnection, 'send' | 'transact'>;
  readonly listening: Pick<ListeningConnection, 'fence'>;
  /** Reserves bytes for messages that are read after a lost connection. */
  readonly missedRoom: ByteSource;
  readonly names: BusNames;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Whether this pod listens to the server that it sends commands to. While a slot or a name moves, it may not, and then it
   * has heard nothing that was published there.
   */
  readonly listensHere: () => Promise<boolean>;
  /** The connection is lost: what the topic's listeners miss is read later, or reported by `missed`. */
  readonly lost: (topic: string) => void;
  /** Messages of the topic may be missing. */
  readonly missed: (topic: string) => void;
  /** Messages of the topic have been read. */
  readonly wasRead: (topic: string) => void;
  /** The missed messages of the topic have been passed on. */
  readonly healed: (topic: string) => void;
}

interface Kept {
  readonly history: TopicHistory;
  readonly listener: TopicListener;
  /** Whether this pod did not listen to the server that was read last. */
  isElsewhere: boolean;
  /** Aborts when the topic is not kept any more. */
  readonly ending: AbortController;
}

/** The topics of which Redis keeps messages for this gateway. */
export class Histories {
  readonly #topics = new Map<string, Kept>();
  readonly #byTopic = new Map<string, TopicHistory>();
  readonly #options: HistoriesOptions;
  /** Undefined until it is started. */
  #stopping: AbortSignal | undefined;

  constructor(options: HistoriesOptions) {
    this.#options = options;
    this.change(options.settings);
  }

  /** For publishing. It changes when topics begin or cease to be kept. */
  get byTopic(): ReadonlyMap<string, TopicHistory> {
    return this.#byTopic;
  }

  /**
   * Keeps messages of these topics, and of no others, from now on.
   *
   * @returns topics that begin or cease to be kept: their channels must be listened to again through `listen`
   */
  change(settings: ReadonlyMap<string, HistorySettings>): readonly string[] {
    const ended = [...this.#topics.keys()].filter((topic) => !settings.has(topic));
    for (const topic of ended) this.#end(topic);
    const begun: string[] = [];
    for (const [topic, kept] of settings) {
      const known = this.#topics.get(topic);
      known?.history.change(kept);
      if (known !== undefined) continue;
      this.#begin(topic, kept);
      begun.push(topic);
    }
    return [...ended, ...begun];
  }

  start(signal: AbortSignal): void {
    this.#stopping = signal;
    for (const kept of this.#topics.values()) renew(kept, signal);
  }

  /** @returns the listener for the messages of the channel as they arrive */
  listen(topic: string, channel: string, listener: Listener): Listener {
    return this.#topics.get(topic)?.listener.listen(channel, listener) ?? listener;
  }

  /** Resolves once the channel, which this pod has subscribed to, is kept or can't be kept. */
  async joined(topic: string, channel: string): Promise<void> {
    const kept = this.#topics.get(topic);
    if (kept === undefined) return;
    const { history, listener } = kept;
    let at = await history.joined(channel);
    if (at === undefined && listener.isHolding) {
      // The channel misses nothing until then. Once others' missed messages are read, it can be kept like them.
      await listener.healed();
      at = await history.joined(channel);
    }
    // A client with a cursor from before the channel was kept would get a gap on the next pod.
    listener.joined(channel, at ?? (await history.keptAgain));
  }

  left(topic: string, channel: string): void {
    const kept = this.#topics.get(topic);
    kept?.history.left(channel);
    kept?.listener.leave(channel);
  }

  /** This pod hears its own heartbeat. */
  heardBeat(): void {
    for (const { listener } of this.#topics.values()) listener.heardBeat();
  }

  /** The heartbeat came over the server that is published to; see TopicListener. */
  confirm(): void {
    for (const { listener } of this.#topics.values()) listener.confirm();
  }

  /** This pod does not listen where it publishes; see TopicListener. */
  doubt(): void {
    for (const { listener } of this.#topics.values()) listener.doubt();
  }

  /** The listening connection is lost. */
  lost(): void {
    for (const [topic, { listener }] of this.#topics) {
      listener.hold();
      this.#options.lost(topic);
    }
  }

  /** There is another listening connection. */
  listens(): void {
    for (const { listener } of this.#topics.values()) void listener.heal();
  }

  /** Whether messages of the topic are held until missed ones have been read. */
  isHolding(topic: string): boolean {
    return this.#topics.get(topic)?.listener.isHolding === true;
  }

  position(topic: string): HistoryPosition | undefined {
    return this.#topics.get(topic)?.listener.position;
  }

  /**
   * Reads the kept messages. While the connections to Redis are down, it waits for them.
   *
   * @throws NoHistory
   */
  async read(
    topic: string,
    channels: readonly string[],
    since: number,
    bounds: HistoryBounds,
  ): Promise<HistoryRead> {
    return this.#waiting(topic, (kept) => tryReading(kept, channels, since, bounds, this.#options));
  }

  /**
   * Reads which of these Kafka keys were deleted in the epoch. While the connections to Redis are down, it waits for them.
   *
   * @throws NoHistory
   */
  deletions(topic: string, epoch: string, keys: readonly string[]): Promise<Deletions> {
    const { commands: connection, names } = this.#options;
    return this.#waiting(topic, () => readDeletions({ topic, epoch, connection, names }, keys));
  }

  async #waiting<Result>(topic: string, attempt: (kept: Kept) => Promise<Result>): Promise<Result> {
    const kept = this.#topics.get(topic);
    if (kept === undefined) throw new NoHistory(topic, 'the topic has none');
    const over = new AbortController();
    let reason = 'the connections to Redis are away';
    // Each step may wait for a connection.
    const tooLate = this.#options.clock.sleep(LONGEST_MS, over.signal).then((): never => {
      throw new NoHistory(topic, reason);
    });
    const reading = this.#readUntil(
      over.signal,
      () => attempt(kept),
      (failure) => (reason = failure),
    );
    try {
      return await Promise.race([reading, tooLate]);
    } finally {
      over.abort();
    }
  }

  /** @param failed called with the reason of each failed attempt that another one follows */
  async #readUntil<Result>(
    over: AbortSignal,
    ask: () => Promise<Result>,
    failed: (reason: string) => void,
  ): Promise<Result> {
    for (;;) {
      try {
        return await ask();
      } catch (thrown) {
        if (thrown instanceof NoHistory || over.aborted || this.#stopping?.aborted === true) throw thrown;
        failed(messageOf(thrown));
        await this.#options.clock.sleep(RETRY_MS, over);
      }
    }
  }

  #begin(topic: string, settings: HistorySettings): void {
    const kept = keep(topic, settings, this.#options);
    this.#topics.set(topic, kept);
    this.#byTopic.set(topic, kept.history);
    if (this.#stopping !== undefined) renew(kept, this.#stopping);
  }

  #end(topic: string): void {
    const kept = this.#topics.get(topic);
    this.#topics.delete(topic);
    this.#byTopic.delete(topic);
    kept?.ending.abort();
    kept?.listener.end();
  }
}

async function tryReading(
  kept: Kept,
  channels: readonly string[],
  since: number,
  bounds: HistoryBounds,
  { listening, listensHere }: Pick<HistoriesOptions, 'listening' | 'listensHere'>,
): Promise<HistoryRead> {
  const { listener } = kept;
  const read = await readWhereListening(kept, channels, since, bounds, listensHere);
  await listening.fence();
  // Over a new connection, this pod hears new messages before it has read the missed ones.
  await listener.healed();
  listener.stands(read.position);
  return read;
}

async function readWhereListening(
  kept: Kept,
  channels: readonly string[],
  since: number,
  bounds: HistoryBounds,
  listensHere: () => Promise<boolean>,
): Promise<HistoryRead> {
  if (kept.isElsewhere) await expectListening(kept, listensHere);
  const read = await kept.history.read(since, channels, bounds);
  await expectListening(kept, listensHere);
  return read;
}

/** Otherwise this pod would hear what it reads a second time, as missed. @throws if it does not listen there yet */
async function expectListening(kept: Kept, listensHere: () => Promise<boolean>): Promise<void> {
  kept.isElsewhere = !(await listensHere());
  if (kept.isElsewhere) throw new Error('this pod listens to another server than it reads from');
}

function renew({ history, ending }: Kept, stopping: AbortSignal): void {
  void history.keepRenewing(AbortSignal.any([stopping, ending.signal]));
}

function keep(topic: string, settings: HistorySettings, options: HistoriesOptions): Kept {
  const { commands, listening, missedRoom, names, clock, log, listensHere, missed, wasRead, healed } =
    options;
  const fence = (): Promise<void> => listening.fence();
  const history: TopicHistory = new TopicHistory({
    topic,
    settings,
    connection: commands,
    names,
    clock,
    log,
    heard: () => listener.heard,
    wasRead: () => wasRead(topic),
    stands: async (position) => {
      if (!(await listensHere())) return;
      await fence();
      listener.stands(position);
    },
  });
  const listener: TopicListener = new TopicListener({
    topic,
    read: (since, channels, bounds) => readWhereListening(kept, channels, since, bounds, listensHere),
    room: missedRoom,
    fence,
    missed: () => missed(topic),
    healed: () => healed(topic),
    begunAnew: () => void history.renew(),
    clock,
    log,
  });
  const kept = { history, listener, isElsewhere: false, ending: new AbortController() };
  return kept;
}
