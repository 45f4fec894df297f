import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { ByteSource } from '../../support/byte-budget.ts';
import type { Clock } from '../../support/clock.ts';
import { unlessAborted } from '../../support/unless-aborted.ts';
import type { Listener } from '../bus.ts';
import { Answers } from './answers.ts';
import { valueOf, type Reply } from './connection.ts';
import { HeardPositions, readPositions, type HeardTopic } from './heard-positions.ts';
import type { BeforeLoss, Heard, Held, Joined } from './held-topic.ts';
import type { LinkMetrics } from './link-metrics.ts';
import type { OwnChannels } from './own-channels.ts';
import { ANSWER, OwnPositions, QUESTION, type OwnPositionsOptions } from './own-positions.ts';

interface MissedMessagesOptions extends OwnPositionsOptions {
  /** Topics that have a history: their missed messages are read from it. */
  readonly histories: ReadonlyMap<string, unknown>;
  /** The connection is lost: `read` or `missed` follows. */
  readonly lost: (topic: string) => void;
  /** All that the topic's listeners have missed has been read. */
  readonly read: (topic: string) => void;
  /** Not all that they have missed can be read. @param isCertain whether a publisher has said that messages are missing */
  readonly missed: (topic: string, isCertain: boolean) => void;
  /** Reserves bytes for what arrives meanwhile; each topic is an owner. As much again may be read of a topic. */
  readonly room: ByteSource;
  readonly metrics: LinkMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** A publisher that has not answered after this time is gone: what it published last is unknown. */
const ANSWER_MS = 6_000;
const ASK_AGAIN_MS = 300;

/** After this time, missed messages are not read any more, but reported as a gap. */
const LONGEST_MS = 15_000;

/** Each message that is held takes so much beside its payload. */
const MESSAGE_BYTES = 200;

/** How long after a lost connection a publisher may still find that Redis has lost acknowledged messages. */
const LATE_MS = 120_000;

const REFUSED =
  'Redis refuses the channel on which pods say what they have published; until it does not, what is missed is told and not read again';

/**
 * Reads what this pod has missed of topics without history from Kafka, where the publisher had read it. Publishers report
 * their positions: each second those that have changed, and all of them when they are asked.
 *
 *     heard   1 2 3 ╳             connection lost; the publisher had said 2
 *     held              6 7       over the next one
 *     asked             6         the publisher has come to 6
 *     read        3 4 5 6         what was heard before is known as a copy
 *     passed on   3 4 5 6 6 7
 */
export class MissedMessages {
  readonly #options: MissedMessagesOptions;
  /** By topic and channel. */
  readonly #listeners = new Map<string, Map<string, Joined>>();
  readonly #held = new Map<string, Held>();
  /** How far this pod has heard everything, once nothing is held. */
  #positions = new HeardPositions();
  /** The positions when it was last known that this pod listens where others publish. */
  #confirmed = new HeardPositions();
  /** The positions when this pod last heard its own heartbeat. */
  #atBeat = new HeardPositions();
  #lostAt = -Infinity;
  /** By topic, if its state is known. */
  #beforeLoss = new Map<string, BeforeLoss>();
  /** Aborts with the connection. */
  #connected = new AbortController();
  /** What has been asked over the present connection, by number. */
  readonly #questions = new Map<string, Answers>();
  #asked = 0;
  /** Aborts once more may be read; undefined: it may. */
  #paused: AbortController | undefined;
  readonly #ownPositions: OwnPositions;
  #isJoined = false;

  constructor(options: MissedMessagesOptions) {
    this.#options = options;
    this.#ownPositions = new OwnPositions(options);
  }

  /** Called once the pod's own channel, which carries answers, is joined. Resolves when the channel of positions is, too. */
  async start(own: Pick<OwnChannels, 'join'>): Promise<void> {
    const { names } = this.#options;
    const refusal = { level: 'warn', message: REFUSED, act: () => undefined } as const;
    await own.join(names.positionsChannel, (payload) => this.#hearPositions(payload.toString()), refusal);
    if (this.#connected.signal.aborted) return;
    this.#isJoined = true;
    this.#ownPositions.start();
    await this.#heal([]);
  }

  stop(): void {
    this.#ownPositions.stop();
    this.#connected.abort();
  }

  /** @returns the listener to be called with the messages of the channel as they arrive */
  listen(topic: string, channel: string, listener: Listener): Listener {
    const ofTopic = this.#listeners.get(topic) ?? new Map<string, Joined>();
    const joined = ofTopic.get(channel) ?? { listener };
    joined.listener = listener;
    this.#listeners.set(topic, ofTopic.set(channel, joined));
    // Otherwise Prometheus would not see the first increase.
    if (ofTopic.size === 1) this.#options.metrics.missedRead.inc({ topic }, 0);
    return (payload) => {
      const held = this.#held.get(topic);
      if (held === undefined) listener(payload);
      else this.#keep(held, topic, { joined, payload });
    };
  }

  left(topic: string, channel: string): void {
    const ofTopic = this.#listeners.get(topic);
    const joined = ofTopic?.get(channel);
    if (joined !== undefined) joined.listener = undefined;
    ofTopic?.delete(channel);
    if (ofTopic?.size === 0) this.#listeners.delete(topic);
    this.#beforeLoss.get(topic)?.channels.delete(channel);
  }

  /** No messages are read for a while. */
  pause(): void {
    this.#paused ??= new AbortController();
  }

  resume(): void {
    this.#paused?.abort();
    this.#paused = undefined;
  }

  /** @returns whether the message is an answer */
  heard(payload: string): boolean {
    if (!payload.startsWith(ANSWER)) return false;
    const [pod = '', number = '', text = ''] = payload.slice(ANSWER.length).split(' ', 3);
    const topics = readPositions(text);
    this.#positions.note(topics, this.#options.clock.now());
    this.#questions.get(number)?.add(pod, topics);
    return true;
  }

  /** This pod hears its own heartbeat. */
  heardBeat(): void {
    this.#atBeat = new HeardPositions(this.#positions);
  }

  /** The heartbeat came over the server that is published to: this pod has heard all that was published a moment before. */
  confirm(): void {
    if (this.#held.size === 0) this.#confirmed = this.#atBeat;
  }

  /** This pod may listen to a replica: then it may have missed messages before the last ones that it heard. */
  doubt(): void {
    this.#confirmed = new HeardPositions(this.#confirmed).doubt();
  }

  /** The topic may have a history from now on: subscribers that read it would take messages from Kafka for copies. */
  end(topic: string): void {
    if (this.#held.has(topic)) this.#giveUp(topic, 'the topic has a history since the graph was replaced');
  }

  /** The listening connection is lost. */
  lost(): void {
    this.#connected.abort();
    this.#connected = new AbortController();
    this.#lostAt = this.#options.clock.now();
    const joined = new Set([...this.#held.keys()].filter((topic) => this.#hasJoined(topic)));
    const before = [...this.#listeners.keys()].map((topic) => [topic, this.#beforeThis(topic)] as const);
    this.#beforeLoss = new Map(
      before.flatMap(([topic, one]) => (one === undefined || joined.has(topic) ? [] : [[topic, one]])),
    );
    for (const topic of joined) this.#giveUp(topic, 'a channel was joined between two lost connections');
    this.#positions = new HeardPositions(this.#confirmed);
    this.#atBeat = this.#confirmed;
    for (const topic of this.#listeners.keys()) if (this.#hold(topic, false)) this.#options.lost(topic);
    // Messages of other streams are passed on at once: earlier ones, if read afterwards, would be dropped as copies.
    const passedOn = [...this.#listeners.keys()].filter((stream) => !this.#held.has(stream));
    const kept = new Set([...this.#held.keys()].flatMap((stream) => this.#topicsOf(stream)));
    for (const topic of passedOn.flatMap((stream) => this.#topicsOf(stream))) kept.delete(topic);
    this.#confirmed.keep((topic) => kept.has(topic));
  }

  #topicsOf(stream: string): readonly string[] {
    return this.#options.consumption()?.topicsOf(stream) ?? [];
  }

  #beforeThis(topic: string): BeforeLoss | undefined {
    const held = this.#held.get(topic);
    if (held !== undefined) return held;
    const now = this.#options.clock.now();
    // Positions that are not confirmed yet may say that a partition has moved, or that one was added.
    const heard = new Map<string, HeardTopic>();
    for (const name of this.#topicsOf(topic)) {
      const whole = this.#positions.whole(name, now) && this.#confirmed.whole(name, now);
      if (whole === undefined) return undefined;
      heard.set(name, whole);
    }
    return heard.size === 0 ? undefined : { heard, channels: new Set(this.#listeners.get(topic)?.keys()) };
  }

  /** Whether a channel was joined since the connection was lost: it must get nothing that was published before. */
  #hasJoined(topic: string): boolean {
    const { channels } = this.#beforeLoss.get(topic) ?? { channels: new Set() };
    return [...(this.#listeners.get(topic)?.keys() ?? [])].some((channel) => !channels.has(channel));
  }

  /** There is another listening connection. */
  listens(): void {
    if (this.#isJoined) void this.#heal([...this.#held]);
  }

  /**
   * Redis may have lost messages of the topic.
   *
   * @returns whether they are read again
   */
  mayMiss(topic: string): boolean {
    const isLate = this.#options.clock.now() - this.#lostAt > LATE_MS;
    const isHeld = this.#held.has(topic);
    if (this.#hasJoined(topic) || !this.#isJoined || (isLate && !isHeld)) return false;
    const held = this.#hold(topic, true);
    if (held !== undefined) void this.#heal([[topic, held]]);
    return held !== undefined;
  }

  /** @returns undefined if it is not known from where on messages may be missing */
  #hold(topic: string, isCertain: boolean): Held | undefined {
    const before = this.#beforeLoss.get(topic);
    const { consumption, histories, room } = this.#options;
    if (before === undefined || histories.has(topic) || consumption() === undefined) return undefined;
    const known = this.#held.get(topic);
    known?.over.abort();
    // Messages that are held from another lost connection are read again.
    const kept = isCertain ? known : undefined;
    if (kept === undefined) known?.room.release();
    const messages = kept?.messages ?? [];
    const held: Held = {
      ...before,
      messages,
      room: kept?.room ?? room.empty(messages),
      isCertain: isCertain || known?.isCertain === true,
      readBy: kept?.readBy,
      over: new AbortController(),
    };
    this.#held.set(topic, held);
    return held;
  }

  #keep(held: Held, topic: string, heard: Heard): void {
    held.messages.push(heard);
    const bytes = held.room.bytes + heard.payload.length + MESSAGE_BYTES;
    if (!held.room.resize(bytes)) this.#giveUp(topic, 'there is no room for what arrives meanwhile');
  }

  /** Asks publishers for their positions, and reads the missing messages of held topics. */
  async #heal(holding: readonly (readonly [topic: string, held: Held])[]): Promise<void> {
    const { signal: connected } = this.#connected;
    const over = new AbortController();
    const signal = AbortSignal.any([connected, over.signal]);
    const now = this.#options.clock.now();
    let readBy = now + LONGEST_MS;
    // A topic that is read anew gets no more time than before.
    for (const [, held] of holding) readBy = Math.min(readBy, (held.readBy ??= readBy));
    void this.#options.clock.sleep(readBy - now, signal).then(() => over.abort());
    const answers = await this.#ask(holding, signal);
    for (const [topic, held] of holding) {
      const isHeld = (): boolean => !connected.aborted && this.#held.get(topic) === held;
      if (!isHeld()) continue;
      try {
        await this.#read(topic, held, answers, AbortSignal.any([signal, held.over.signal]));
        if (!isHeld()) continue;
        this.#options.read(topic);
        this.#release(topic);
      } catch (thrown) {
        if (isHeld()) this.#giveUp(topic, messageOf(thrown));
      }
    }
    over.abort();
  }

  /** @returns the answers that have come in time */
  async #ask(holding: readonly (readonly [string, Held])[], signal: AbortSignal): Promise<Answers> {
    const { commands, names, pod, clock } = this.#options;
    const held = holding.flatMap(([, { heard }]) => [...heard]);
    const answers = new Answers(held.map(([topic, { count }]) => [topic, count]));
    const number = String((this.#asked += 1));
    this.#questions.set(number, answers);
    let askedAt: number | undefined;
    const isLate = (): boolean => askedAt !== undefined && clock.now() - askedAt >= ANSWER_MS;
    while (!signal.aborted && !answers.complete.aborted && !isLate()) {
      // A paused pod reads no answers.
      if (this.#paused !== undefined) askedAt = undefined;
      await this.#ready(signal);
      try {
        const asking = commands.send([
          ['PUBLISH', names.positionsChannel, `${QUESTION}${pod} ${number}`],
          ['PUBSUB', 'NUMSUB', names.podChannel(pod)],
        ]);
        const replies = await unlessAborted(asking, signal);
        if (replies === undefined) break;
        answers.expect(Number(valueOf(replies[0])) - lostConnections(replies[1]));
        askedAt ??= clock.now();
      } catch {
        // The connection may still be down.
      }
      await clock.sleep(ASK_AGAIN_MS, AbortSignal.any([signal, answers.complete]));
    }
    this.#questions.delete(number);
    return answers;
  }

  /** @throws if not all missing messages can be read */
  async #read(
    topic: string,
    { heard, channels }: Held,
    answers: Answers,
    signal: AbortSignal,
  ): Promise<void> {
    const { consumption, room, metrics, log } = this.#options;
    const missing = [...heard].map(([name, since]) => ({ name, ranges: answers.missing(name, since) }));
    const source = consumption();
    const unheard = answers.topics.find((name) => !heard.has(name) && source?.isOf(topic, name) === true);
    if (unheard !== undefined) throw new Error(`the topic ${unheard} is new`);
    const read = missing.filter(({ ranges }) => ranges.length > 0);
    if (read.length === 0 || channels.size === 0 || source === undefined) return;
    let [count, bytes] = [0, 0];
    const passOn = (channel: string, payload: string): void => {
      if (signal.aborted) return;
      bytes += payload.length;
      if (bytes > room.mostOfOwner) throw new Error(`expected at most ${room.mostOfOwner} bytes, got more`);
      count += 1;
      this.#listeners.get(topic)?.get(channel)?.listener?.(payload);
    };
    const wants = (channel: string): boolean => channels.has(channel);
    const reader = { wants, passOn, ready: () => this.#ready(signal) };
    for (const { name, ranges } of read) {
      await unlessAborted(source.read(name, ranges, reader, signal), signal);
      if (signal.aborted) throw new Error(`it took longer than ${LONGEST_MS} ms`);
    }
    metrics.missedRead.inc({ topic });
    log.info(
      { topic, messages: count },
      'what was missed while the connection was lost is read from Kafka again',
    );
  }

  /** Resolves once the bus is not paused. */
  async #ready(signal: AbortSignal): Promise<void> {
    const { signal: over } = this.#paused ?? {};
    if (over !== undefined) await this.#options.clock.sleep(LONGEST_MS, AbortSignal.any([over, signal]));
  }

  #release(topic: string): void {
    const held = this.#held.get(topic);
    this.#held.delete(topic);
    held?.over.abort();
    held?.room.release();
    for (const { joined, payload } of held?.messages ?? []) joined.listener?.(payload);
  }

  #giveUp(topic: string, reason: string): void {
    const { log, missed } = this.#options;
    log.info({ topic, reason }, 'what was missed while the connection was lost can not be read');
    missed(topic, this.#held.get(topic)?.isCertain === true);
    // After messages that are passed on now, earlier ones would be taken for copies.
    const passedOn = new Set(this.#topicsOf(topic));
    this.#confirmed.keep((kept) => !passedOn.has(kept));
    this.#beforeLoss.delete(topic);
    this.#release(topic);
  }

  #hearPositions(payload: string): void {
    if (payload.startsWith(QUESTION)) void this.#ownPositions.answer(payload.slice(QUESTION.length));
    else this.#positions.note(readPositions(payload), this.#options.clock.now());
  }
}

/** @param counted the reply to NUMSUB of this pod's own channel @returns lost connections that Redis still counts */
function lostConnections(counted: Reply | undefined): number {
  if (counted === undefined || 'error' in counted) return 0;
  const [, count] = counted.value as readonly unknown[];
  return Math.max(0, Number(count) - 1);
}
