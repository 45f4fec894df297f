import type { Bus } from '../../bus/bus.ts';
import type { HistoryPosition } from '../../bus/history.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { Group } from '../group.ts';
import type { Subscriber } from '../subscriber.ts';
import { UNITS } from '../work-budget.ts';
import { parseCursor } from './cursor.ts';
import { GroupRecorder, type GroupRecorderServices } from './group-recorder.ts';
import { Greetings, type Outcome } from './greetings.ts';
import { LastEvents } from './last-events.ts';
import type { RecordedChannel } from './recording-request.ts';
import { Recordings, type RecordingServices } from './recordings.ts';
import { Replay, type ReplayServices } from './replay.ts';
import { isRecorded, startOf, type Resumer } from './resumer.ts';
import { SlowResumers } from './slow-resumers.ts';

export interface ResumeServices
  extends RecordingServices, GroupRecorderServices, Pick<ReplayServices, 'budget' | 'scopeOf'> {
  readonly deletions: Bus['deletions'];
  /** Tells subscribers that events of the topic may be missing. */
  readonly tellGap: (topic: string, subscribers: readonly Subscriber[]) => void;
  readonly metrics: Metrics;
  readonly log: Log;
}

interface Running {
  readonly group: Group;
  readonly replay: Replay;
  readonly channels: readonly RecordedChannel[];
}

/** A subscriber that is to be greeted. */
type Joining = Pick<Resumer, 'subscriber' | 'leaving'>;

/** A subscriber that has been greeted, and the channels that stay recorded until it has a replay. */
interface Ready {
  readonly resumer: Resumer;
  readonly channels: readonly RecordedChannel[];
}

/** What replays may spend of a turn: the rest is for messages that come. */
const UNITS_PER_TURN = UNITS.turn / 2;

/** How long until executions are looked at again: ms. */
const WAITING_MS = 5;

/**
 * Brings subscribers that resume into their groups: each gets what it has missed since its cursor, then what comes. Before
 * that, a result without data tells it from where on it gets events, and whether these are all since its cursor.
 *
 *     begin ──► channels joined ──► recorded ──► greeted ──► Replay ──► group
 *                    └── no cursor, or what is behind it is not kept ──► greeted ──► group
 */
export class Resumes {
  readonly #services: ResumeServices;
  readonly #recordings: Recordings;
  readonly #recorder: GroupRecorder;
  readonly #lastEvents: LastEvents;
  /** Subscribers whose channels are recorded, by group. */
  readonly #ready = new Map<Group, Ready[]>();
  readonly #running = new Set<Running>();
  /** The running replay of each group: one at a time, so that the next one finds the results that it has executed. */
  readonly #active = new Map<Group, Running>();
  readonly #slow = new SlowResumers((group, resumer) => void this.#again(group, resumer));
  #isScheduled = false;
  readonly #greetings: Greetings;

  constructor(services: ResumeServices) {
    this.#services = services;
    this.#greetings = new Greetings(services.metrics);
    this.#recordings = new Recordings(services);
    this.#recorder = new GroupRecorder(services, this.#recordings);
    this.#lastEvents = new LastEvents(services.deletions, this.#recorder, this.#recordings);
  }

  /**
   * @param group the group that the subscriber is to join
   * @param cursor as the client has sent it; null: it has none; undefined: it does not know of cursors
   * @param joined resolves once all channels of the group have been joined
   */
  begin(group: Group, subscriber: Subscriber, cursor: unknown, joined: Promise<unknown>): void {
    const leaving = group.beginResuming(subscriber);
    const isKnown = group.isSubscribed && this.#services.position(group.plan.topic) !== undefined;
    if (cursor === null && isKnown && group.plan.replay === 0) this.#goLive(group, subscriber, cursor);
    else void this.#bring(group, { subscriber, leaving }, cursor, joined);
  }

  async #bring(group: Group, joining: Joining, cursor: unknown, joined: Promise<unknown>): Promise<void> {
    const { subscriber } = joining;
    try {
      await joined;
      const at = parseCursor(cursor);
      const resumer = at && { ...joining, ...at };
      const greet = (position: HistoryPosition): void =>
        this.#greet(group, subscriber, position, 'recovered', cursor);
      if (await this.#enqueueIfCovered(group, joining, resumer, greet)) return;
      if (group.plan.replay > 0) {
        await this.#replayLast(group, joining, cursor);
      } else {
        this.#goLive(group, subscriber, cursor);
      }
    } catch (error) {
      // Where a channel can't be joined, the group has ended its subscribers.
      if (!group.isResuming(subscriber)) return;
      this.#services.log.error({ err: error }, 'a subscription could not be resumed');
      this.#goLive(group, subscriber, cursor);
    }
  }

  /** The subscriber begins with the last events of each of its channels that are not deleted. */
  async #replayLast(group: Group, joining: Joining, cursor: unknown): Promise<void> {
    const { subscriber } = joining;
    const { topic } = group.plan;
    const epoch = this.#services.position(topic)?.epoch;
    const beginning = epoch === undefined ? undefined : { epoch, sequence: 0 };
    const found = await this.#lastEvents.find(group, beginning, joining);
    if (found === undefined) {
      this.#goLive(group, subscriber, cursor);
      return;
    }
    const { channels, at, starts, deleted, isWhole } = found;
    this.#greet(group, subscriber, at, cursor === null && isWhole ? 'new' : 'lost', cursor);
    // There was no room for all. A client that asks for neither gaps nor cursors has missed nothing it knows of.
    if (!isWhole && cursor === undefined && subscriber.wantsGaps) this.#services.tellGap(topic, [subscriber]);
    this.#enqueue(group, { ...joining, ...at, starts, deleted });
    this.#recordings.release(channels);
  }

  /**
   * @param joining the subscriber that wants it
   * @param resumer undefined: its cursor can't be used
   * @param greet called before it is enqueued
   * @returns false if the messages that it lacks are not there
   */
  async #enqueueIfCovered(
    group: Group,
    joining: Joining,
    resumer: Resumer | undefined,
    greet?: (at: HistoryPosition) => void,
  ): Promise<boolean> {
    const recorded = await this.#recorder.record(group, resumer, joining);
    if (recorded === undefined || resumer === undefined) return false;
    const isCovered = isRecorded(recorded.channels, resumer);
    if (isCovered) {
      greet?.(resumer);
      this.#enqueue(group, resumer);
    }
    this.#recordings.release(recorded.channels);
    return isCovered;
  }

  /**
   * The subscriber gets what comes from now on.
   *
   * @param cursor see `begin`: one that can't be used, if there is one
   */
  #goLive(group: Group, subscriber: Subscriber, cursor: unknown): void {
    const { position, afterWaiting } = this.#services;
    const heard = position(group.plan.topic);
    const got = parseCursor(cursor);
    // A client may have got more than this pod knows of. With an earlier cursor it would get that again from the next pod.
    const isAhead = got !== undefined && got.epoch === heard?.epoch && got.sequence > heard.sequence;
    const at = isAhead ? got : heard;
    afterWaiting(() => {
      this.#greet(group, subscriber, at, cursor === null ? 'new' : 'lost', cursor);
      group.takeOver([subscriber]);
    });
  }

  /** @param cursor see `begin`: a client that does not know of cursors is not greeted */
  #greet(
    group: Group,
    subscriber: Subscriber,
    position: HistoryPosition | undefined,
    outcome: Outcome,
    cursor: unknown,
  ): void {
    if (cursor !== undefined && group.isResuming(subscriber)) {
      this.#greetings.greet(subscriber, position, outcome);
    }
  }

  #enqueue(group: Group, resumer: Resumer): void {
    const channels = this.#services.channelsOf(group);
    this.#recordings.use(channels);
    const ready = this.#ready.get(group);
    if (ready === undefined) this.#ready.set(group, [{ resumer, channels }]);
    else ready.push({ resumer, channels });
    this.#schedule(0);
  }

  #schedule(ms: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (ms === 0) setImmediate(() => this.#turn());
    else setTimeout(() => this.#turn(), ms);
  }

  #turn(): void {
    this.#isScheduled = false;
    for (const [group, ready] of this.#ready) {
      if (this.#active.has(group)) continue;
      // Subscribers that begin with the last events do not get all that others get: events deleted by then are left out.
      const lastDeletion = ready[0]?.resumer.deleted?.last;
      const isAlike = ({ resumer }: Ready): boolean => resumer.deleted?.last === lastDeletion;
      const rest = ready.filter((one) => !isAlike(one));
      if (rest.length > 0) this.#ready.set(group, rest);
      else this.#ready.delete(group);
      this.#start(group, ready.filter(isAlike));
    }
    const hasStepped = this.#step();
    if (this.#running.size > 0) this.#schedule(hasStepped ? 0 : WAITING_MS);
  }

  /** @returns whether there may be more to do at once */
  #step(): boolean {
    const { budget } = this.#services;
    if (budget.writing) return false;
    const end = budget.spent + UNITS_PER_TURN;
    let hasStepped = true;
    while (hasStepped && budget.spent < end) {
      hasStepped = false;
      for (const running of this.#running) {
        const { replay } = running;
        if (this.#tryStep(replay)) hasStepped = true;
        if (replay.isOver) this.#end(running);
        else if (replay.isStuck) this.#makeWay(running);
        if (budget.spent >= end) break;
      }
    }
    return hasStepped;
  }

  #tryStep(replay: Replay): boolean {
    try {
      return replay.step();
    } catch (error) {
      this.#services.log.error({ err: error }, 'a replay failed on an event');
      replay.giveUp();
      return true;
    }
  }

  #start(group: Group, ready: readonly Ready[]): void {
    const channels = this.#services.channelsOf(group);
    const recorded: Resumer[] = [];
    for (const { resumer } of ready) {
      if (isRecorded(channels, resumer)) recorded.push(resumer);
      else void this.#again(group, resumer);
    }
    if (recorded.length > 0) this.#replay(group, channels, recorded);
    for (const { channels: used } of ready) this.#recordings.release(used);
  }

  #replay(group: Group, channels: readonly RecordedChannel[], recorded: readonly Resumer[]): void {
    this.#recordings.use(channels);
    const tracks = channels.flatMap(({ name, recording }) =>
      recording === undefined ? [] : { recording, start: startOf(name, recorded) },
    );
    const replay = new Replay(group, tracks, recorded, {
      ...this.#services,
      aside: (slow) => this.#slow.add(group, slow),
      again: (ready) => {
        for (const resumer of ready) this.#enqueue(group, resumer);
      },
      lost: (subscribers) => this.#lose(group, subscribers),
    });
    const running = { group, replay, channels };
    this.#running.add(running);
    this.#active.set(group, running);
  }

  #end(running: Running): void {
    this.#running.delete(running);
    this.#recordings.release(running.channels);
    this.#makeWay(running);
  }

  #makeWay(running: Running): void {
    if (this.#active.get(running.group) !== running) return;
    this.#active.delete(running.group);
    if (this.#ready.size > 0) this.#schedule(0);
  }

  /** The subscriber has been greeted, but what it lacks may not be recorded any more. */
  async #again(group: Group, resumer: Resumer): Promise<void> {
    const isCovered = await this.#enqueueIfCovered(group, resumer, resumer).catch(() => false);
    if (!isCovered) this.#lose(group, [resumer.subscriber]);
  }

  /** They have been greeted, and what they lack can't be replayed. */
  #lose(group: Group, subscribers: readonly Subscriber[]): void {
    const present = subscribers.filter((subscriber) => group.isResuming(subscriber));
    if (present.length === 0) return;
    this.#services.tellGap(group.plan.topic, present);
    group.takeOver(present);
  }
}
