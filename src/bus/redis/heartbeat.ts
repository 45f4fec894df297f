import { randomUUID } from 'node:crypto';
import { messageOf } from '../../errors.ts';
import { withTimeout } from '../../support/with-timeout.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import type { CommandConnection, ListeningConnection } from './connection.ts';
import { Deafness } from './deafness.ts';
import type { GapDetector } from './gap-detector.ts';
import type { BusNames } from './names.ts';
import type { OwnChannels, Refused } from './own-channels.ts';
import type { Publishing } from './publishing.ts';
import type { BusTiming } from './timing.ts';

/** Is notified of what a heartbeat shows. */
interface Certainty {
  /** A message of the pod to itself has come back. */
  heard(): void;
  /** This pod has heard all that was published before the last heartbeat that it heard. */
  confirm(): void;
  /** This pod listens to a server that is alive, but is not the one that is published to. */
  doubt(): void;
}

interface HeartbeatOptions {
  readonly commands: CommandConnection;
  readonly publishing: Pick<Publishing, 'canProbe' | 'probe' | 'initialise' | 'othersListen'>;
  readonly listening: ListeningConnection;
  readonly gaps: GapDetector;
  readonly certainty: Certainty;
  /** Whether Redis tells how many listeners a message has reached, wherever they are. */
  readonly countsReceivers: boolean;
  readonly names: BusNames;
  readonly pod: string;
  readonly own: Pick<OwnChannels, 'join'>;
  /** Called, and logged, where Redis refuses the pod a channel of its own. */
  readonly refused: Refused;
  readonly timing: BusTiming;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Log;
  /** Called when this pod has become deaf, and when it is not any more. See `Deafness`. */
  readonly deaf: (isDeaf: boolean) => void;
}

const ELSEWHERE = 'the connections to Redis are to different servers; connecting again';

/** A lost connection is made again, and begins with a heartbeat of its own. */
const ignoreLost = (): void => undefined;

/** A message to oneself that has not come back. */
interface Beat {
  readonly id: string;
  /** The channel that it was sent over. */
  readonly channel: string;
  readonly versions: ReadonlyMap<string, string | null>;
  /** Ticks in a row at which nothing had arrived. Time alone says little: this process may have been frozen. */
  readonly silentTicks: number;
  /** Bytes that the listening connection had read at the last tick. */
  readonly bytesRead: number;
}

/**
 * Each second the pod sends itself a message through Redis, and reads the versions of its topics with it. A message that
 * comes back shows that the pod listens, and what it has heard; a missing one shows that the connection is half open.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  /** Number of the listening connection; undefined while there is none. */
  #connection: number | undefined;
  #connections = 0;
  /** The channel of this connection alone. Until it is joined, the pod hears itself by the channel of all connections. */
  #joined: string | undefined;
  /** Aborts when the connection is lost. */
  #lost = new AbortController();
  /** The server's replication id at the last heartbeat over this connection. */
  #replicationId: string | undefined;
  #beats = 0;
  #isSending = false;
  #waiting: Beat | undefined;
  #isPaused = false;
  #isRefused = false;
  readonly #deafness: Deafness;
  /** Messages sent to find out whether the pod listens where it publishes, each with what is called once it is heard. */
  readonly #probes = new Map<string, () => void>();
  /** Whether anything has been heard since the last tick. */
  #hasHeard = false;
  /** The number of the heartbeat that `forget` was called for last: its reply confirms nothing. */
  #forgotten = 0;
  /** Bytes that the listening connection had read at the last tick. */
  #bytesRead = 0;

  constructor(options: HeartbeatOptions) {
    const { publishing, names, pod, timing, deaf } = options;
    this.#options = options;
    this.#deafness = new Deafness({
      othersListen: () => publishing.othersListen(names.podChannel(pod)),
      timing,
      changed: deaf,
    });
  }

  /** Whether others hear what is published, while this pod does not. */
  get isDeaf(): boolean {
    return this.#deafness.isDeaf;
  }

  /** Called once the pod's own channels can be joined. */
  start(): void {
    this.#isRefused = false;
    this.#timer = setInterval(() => this.#tick(), this.#options.timing.beatMs).unref();
    this.#begin();
  }

  /** Redis refuses one of the pod's own channels: as long as it does, this pod can't tell what it misses. */
  refused(): void {
    this.#isRefused = true;
    if (this.#connection !== undefined) this.#options.gaps.assumeMissed();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#lost.abort();
  }

  /** All channels are joined on a new connection. */
  connected(): void {
    this.#connections += 1;
    this.#connection = this.#connections;
    this.#replicationId = undefined;
    if (this.#isRefused) this.#options.gaps.assumeMissed();
    this.#begin();
  }

  disconnected(): void {
    this.#stopHearing();
    this.#options.gaps.suspectAll();
  }

  /** While nothing is read, silence means nothing. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (this.#waiting !== undefined) this.#waiting = this.#renewed(this.#waiting);
  }

  /** A message of this pod to itself has come back. */
  heard(id: string): void {
    const resolve = this.#probes.get(id);
    if (resolve !== undefined) {
      resolve();
      return;
    }
    this.#options.certainty.heard();
    if (this.#waiting?.id !== id) return;
    this.#hasHeard = true;
    this.#confirm(this.#waiting.versions);
    this.#waiting = undefined;
  }

  /** The heartbeat that is under way shows nothing any more: since it was sent, the server has become a replica. */
  forget(): void {
    this.#waiting = undefined;
    this.#forgotten = this.#beats;
  }

  /**
   * Whether this pod listens to the server that it publishes to. True if Redis refuses the question.
   *
   * @throws if one of the connections is lost
   */
  async listensHere(): Promise<boolean> {
    const { commands, listening, countsReceivers, timing } = this.#options;
    if (this.#timer === undefined) return true;
    const id = randomUUID();
    const heard = new Promise<boolean>((resolve) => this.#probes.set(id, () => resolve(true)));
    try {
      // Until the channel of this connection alone is joined, Redis may count a lost connection.
      const [reply] = await commands.send([['PUBLISH', this.#channel, id]]);
      if (reply === undefined || 'error' in reply) return true;
      // A master does not count listeners of its replicas.
      if (reply.value === 0 && countsReceivers) return false;
      await listening.fence();
      if (countsReceivers) return await Promise.race([heard, false]);
      // Through a proxy, the message may come later than the answer of the server that this pod is connected to.
      return await withTimeout(heard, timing.beatMs, () => false);
    } finally {
      this.#probes.delete(id);
    }
  }

  /** Sends a message, unless one is under way. */
  beat(): void {
    if (
      this.#timer === undefined ||
      this.#isSending ||
      this.#waiting !== undefined ||
      this.#connection === undefined
    )
      return;
    if (!this.#options.publishing.canProbe) return;
    this.#isSending = true;
    void this.#send(this.#connection)
      .catch((thrown: unknown) => {
        this.#waiting = undefined;
        this.#options.log.debug({ reason: messageOf(thrown) }, 'no heartbeat');
      })
      .finally(() => (this.#isSending = false));
  }

  get #channel(): string {
    const { names, pod } = this.#options;
    return this.#joined ?? names.podChannel(pod);
  }

  /** Sends a heartbeat at once, since what is published before the first one counts as missed. */
  #begin(): void {
    this.beat();
    if (this.#timer !== undefined && this.#connection !== undefined) void this.#join();
  }

  async #join(): Promise<void> {
    const { own, names, pod, refused } = this.#options;
    const lost = (this.#lost = new AbortController());
    const channel = names.connectionChannel(pod, this.#connections);
    await own.join(channel, (payload) => this.heard(payload.toString()), refused, lost.signal);
    if (lost.signal.aborted) return;
    this.#isRefused = false;
    this.#joined = channel;
  }

  #stopHearing(): void {
    this.#lost.abort();
    if (this.#joined !== undefined) this.#options.listening.leave(this.#joined);
    this.#joined = undefined;
    this.#connection = undefined;
    this.#waiting = undefined;
  }

  #tick(): void {
    const { listening, timing } = this.#options;
    const waiting = this.#waiting;
    if (waiting !== undefined && waiting.channel !== this.#channel && !this.#isSending) {
      // Redis may have counted a lost connection in place of this one, which then never gets the message: another is sent.
      this.#waiting = undefined;
    } else if (waiting !== undefined && !this.#isPaused) {
      const silentTicks = waiting.silentTicks + 1;
      if (listening.bytesRead !== waiting.bytesRead) this.#waiting = this.#renewed(waiting);
      else if (silentTicks * timing.beatMs >= timing.silenceMs) {
        this.#reconnect('nothing is heard of Redis any more; connecting again');
      } else this.#waiting = { ...waiting, silentTicks };
    }
    this.#checkDeafness();
    this.beat();
  }

  /** Bytes that arrive over a connection that is still being made prove nothing. */
  #checkDeafness(): void {
    const { listening, publishing } = this.#options;
    const reads = this.#connection !== undefined && listening.bytesRead !== this.#bytesRead;
    this.#bytesRead = listening.bytesRead;
    if (this.#hasHeard) this.#deafness.heard();
    else if (reads || this.#isPaused || this.#isRefused || !publishing.canProbe) this.#deafness.unknown();
    else void this.#deafness.silent();
    this.#hasHeard = false;
  }

  async #send(connection: number): Promise<void> {
    const { publishing, listening, gaps, certainty, countsReceivers, timing } = this.#options;
    this.#beats += 1;
    const id = String(this.#beats);
    // The message may arrive on one connection before the reply arrives on the other.
    const channel = this.#channel;
    this.#waiting = { id, channel, versions: new Map(), silentTicks: 0, bytesRead: listening.bytesRead };
    const { versions, receivers, replicationId } = await publishing.probe(gaps.topics, channel, id);
    if (connection !== this.#connection || this.#beats === this.#forgotten) return;
    if (receivers === 0 && countsReceivers) {
      // The next connection finds out what this one missed; it has to listen to the server that is published to.
      const isAlive = await withTimeout(this.#fenced(), timing.beatMs, () => false);
      if (connection !== this.#connection) return;
      if (isAlive) certainty.doubt();
      this.#reconnect(ELSEWHERE);
      return;
    }
    const without = [...versions].filter(([, version]) => version === null).map(([topic]) => topic);
    // The server was a replica for a while: others may have published, or passed events over, on another master.
    if (this.#replicationId !== undefined && replicationId !== this.#replicationId) gaps.suspectAll();
    this.#replicationId = replicationId;
    gaps.compare(versions);
    if (this.#waiting?.id === id) this.#waiting = { ...this.#waiting, versions };
    else this.#confirm(versions);
    if (!countsReceivers) void this.#expectHeard(id, connection).catch(ignoreLost);
    await publishing.initialise(without);
  }

  /** For Redis that counts no receivers: connects again if the server that this pod listens to answers, and no message comes. */
  async #expectHeard(id: string, connection: number): Promise<void> {
    const { certainty, timing, clock } = this.#options;
    if (!(await withTimeout(this.#fenced(), timing.beatMs, () => false))) return;
    await clock.sleep(timing.silenceMs, this.#lost.signal);
    if (connection !== this.#connection || this.#waiting?.id !== id || this.#isPaused) return;
    certainty.doubt();
    this.#reconnect(ELSEWHERE);
  }

  /** @returns true once the server that this pod listens to has answered, and so is alive */
  async #fenced(): Promise<boolean> {
    await this.#options.listening.fence();
    return true;
  }

  /** @param versions empty if the message arrived before the reply of Redis: then the reply confirms */
  #confirm(versions: Beat['versions']): void {
    if (versions.size === 0) return;
    this.#options.gaps.heard(versions);
    this.#options.certainty.confirm();
  }

  /** From now on nothing is taken as heard, even if the connection is slow to close. */
  #reconnect(why: string): void {
    this.#options.log.warn(why);
    this.#stopHearing();
    this.#options.listening.reconnect();
  }

  #renewed(beat: Beat): Beat {
    return { ...beat, silentTicks: 0, bytesRead: this.#options.listening.bytesRead };
  }
}
