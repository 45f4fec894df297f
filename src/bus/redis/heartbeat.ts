import { messageOf } from '../../errors.ts';
import { withTimeout } from '../../support/with-timeout.ts';
import type { Log } from '../../log.ts';
import type { ListeningConnection } from './connection.ts';
import { Deafness } from './deafness.ts';
import type { GapDetector } from './gap-detector.ts';
import type { Publishing } from './publishing.ts';
import type { BusTiming } from './timing.ts';

/** Told what a heartbeat shows. */
interface Certainty {
  /** This pod has heard all that had been published before the heartbeat that it has heard last. */
  confirm(): void;
  /** The server that this pod listens to, which is alive, is not the one that is published to. */
  doubt(): void;
}

interface HeartbeatOptions {
  readonly publishing: Publishing;
  readonly listening: ListeningConnection;
  readonly gaps: GapDetector;
  readonly certainty: Certainty;
  /** Whether Redis tells how many listeners a message has reached, wherever they are. */
  readonly countsReceivers: boolean;
  /** Of this pod alone. */
  readonly channel: string;
  readonly timing: BusTiming;
  readonly log: Log;
  /** Called when this pod has become deaf, and when it is not any more. See `Deafness`. */
  readonly deaf: (isDeaf: boolean) => void;
}

/** A message to oneself that has not come back. */
interface Beat {
  readonly id: string;
  readonly versions: ReadonlyMap<string, string | null>;
  /** Ticks in a row at which nothing had come. Time alone says little: this process may have stood still. */
  readonly silentTicks: number;
  /** Bytes that the listening connection had read at the last tick. */
  readonly bytesRead: number;
}

/**
 * Each second the pod sends itself a message through Redis, and reads the versions of its topics with it. One that comes
 * back shows that the pod listens, and what it has heard; one that does not, that the connection is only half open.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  /** Number of the listening connection; undefined while there is none. */
  #connection: number | undefined;
  #connections = 0;
  /** Of the server at the last heartbeat over this connection. */
  #replicationId: string | undefined;
  #beats = 0;
  #isSending = false;
  #waiting: Beat | undefined;
  #isPaused = false;
  #isRefused = false;
  readonly #deafness: Deafness;
  /** Whether anything has been heard since the last tick. */
  #hasHeard = false;
  /** Bytes that the listening connection had read at the last tick. */
  #bytesRead = 0;

  constructor(options: HeartbeatOptions) {
    const { publishing, channel, timing, deaf } = options;
    this.#options = options;
    this.#deafness = new Deafness({
      othersListen: () => publishing.othersListen(channel),
      timing,
      changed: deaf,
    });
  }

  /** Others hear what is published, and this pod does not. */
  get isDeaf(): boolean {
    return this.#deafness.isDeaf;
  }

  /** The pod's own channel is joined. */
  start(): void {
    this.#isRefused = false;
    this.#timer = setInterval(() => this.#tick(), this.#options.timing.beatMs).unref();
    this.beat();
  }

  /** Redis refuses the pod's own channel: until `start` this pod can't tell what it misses. */
  refused(): void {
    this.#isRefused = true;
    if (this.#connection !== undefined) this.#options.gaps.assumeMissed();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** All channels are joined on a new connection. */
  connected(): void {
    this.#connections += 1;
    this.#connection = this.#connections;
    this.#replicationId = undefined;
    this.#waiting = undefined;
    if (this.#isRefused) this.#options.gaps.assumeMissed();
    this.beat();
  }

  disconnected(): void {
    this.#connection = undefined;
    this.#options.gaps.suspectAll();
  }

  /** While nothing is read, silence means nothing. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (this.#waiting !== undefined) this.#waiting = this.#renewed(this.#waiting);
  }

  /** A message of this pod has come back. */
  heard(id: string): void {
    if (this.#waiting?.id !== id) return;
    this.#hasHeard = true;
    this.#confirm(this.#waiting.versions);
    this.#waiting = undefined;
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

  #tick(): void {
    const { listening, timing } = this.#options;
    const waiting = this.#waiting;
    if (waiting !== undefined && this.#connection !== undefined && !this.#isPaused) {
      const silentTicks = waiting.silentTicks + 1;
      if (listening.bytesRead !== waiting.bytesRead) this.#waiting = this.#renewed(waiting);
      else if (silentTicks * timing.beatMs >= timing.silenceMs) {
        this.#reconnect('nothing is heard of Redis any more; connecting again');
      } else this.#waiting = { ...waiting, silentTicks };
    }
    this.#checkDeafness();
    this.beat();
  }

  /** What comes over a connection that is still being made says nothing. */
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
    const { publishing, listening, gaps, certainty, channel, countsReceivers, timing } = this.#options;
    this.#beats += 1;
    const id = String(this.#beats);
    // Before Redis replies on one connection, the message may have come over the other.
    this.#waiting = { id, versions: new Map(), silentTicks: 0, bytesRead: listening.bytesRead };
    const { versions, receivers, replicationId } = await publishing.probe(gaps.topics, channel, id);
    if (connection !== this.#connection) return;
    if (receivers === 0 && countsReceivers) {
      // What this connection missed is found out on the next one, which has to hear what is published here.
      const isAlive = await withTimeout(this.#fenced(), timing.beatMs, () => false);
      if (connection !== this.#connection) return;
      if (isAlive) certainty.doubt();
      this.#reconnect('the connections to Redis are to different servers; connecting again');
      return;
    }
    const without = [...versions].filter(([, version]) => version === null).map(([topic]) => topic);
    // The server was a replica for a while: others may have published, or passed events over, on another master.
    if (this.#replicationId !== undefined && replicationId !== this.#replicationId) gaps.suspectAll();
    this.#replicationId = replicationId;
    gaps.compare(versions);
    if (this.#waiting?.id === id) this.#waiting = { ...this.#waiting, versions };
    else this.#confirm(versions);
    await publishing.initialise(without);
  }

  /** @returns true once the server that this pod listens to has answered: it is not one that has ended */
  async #fenced(): Promise<boolean> {
    await this.#options.listening.fence();
    return true;
  }

  /** @param versions empty where the message has come before Redis has replied: then its reply confirms */
  #confirm(versions: Beat['versions']): void {
    if (versions.size === 0) return;
    this.#options.gaps.heard(versions);
    this.#options.certainty.confirm();
  }

  /** From now on nothing is taken as heard, even if the connection is slow to close. */
  #reconnect(why: string): void {
    this.#options.log.warn(why);
    this.#connection = undefined;
    this.#waiting = undefined;
    this.#options.listening.reconnect();
  }

  #renewed(beat: Beat): Beat {
    return { ...beat, silentTicks: 0, bytesRead: this.#options.listening.bytesRead };
  }
}
