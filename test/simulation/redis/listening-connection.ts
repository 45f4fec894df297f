import type { ListeningConnection } from '../../../src/bus/redis/connection.ts';
import { SimulatedConnection } from './connection.ts';
import type { Session, SimulatedRedis } from './server.ts';
import type { Socket } from './socket.ts';

/** The server disconnects a client with this much unread output: client-output-buffer-limit. */
const OUTPUT_BUFFER_BYTES = 256 * 1024;

/** The bytes of a message besides its channel and payload. */
const FRAME_BYTES = 32;

type Listener = (payload: Buffer | string) => void;

interface Joining {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A push to a subscribed client: a message, or the reply to a SUBSCRIBE. */
interface Push {
  readonly bytes: number;
  readonly take: () => void;
}

/** The common part of connections that listen, to all channels or to those of some slots. */
export abstract class SimulatedListening extends SimulatedConnection {
  protected readonly listeners = new Map<string, Listener>();
  /** The calls that wait for the reply to a SUBSCRIBE, by channel. */
  protected readonly joining = new Map<string, Joining[]>();
  readonly #sessions = new Map<Socket, Session>();
  /** The calls that wait for the reply to their PING. */
  #fences: (() => void)[] = [];
  #isOpened = false;
  #paused = false;
  #unread: Push[] = [];
  #bytesRead = 0;

  get bytesRead(): number {
    return this.#bytesRead;
  }

  protected joinOne(channel: string, listener: Listener): Promise<void> {
    this.listeners.set(channel, listener);
    return new Promise((resolve, reject) => {
      this.joining.set(channel, [...(this.joining.get(channel) ?? []), { resolve, reject }]);
      if (this.socket !== undefined && this.#isOpened) this.#subscribe(this.socket, channel);
    });
  }

  leave(channel: string): void {
    this.listeners.delete(channel);
    const { socket } = this;
    if (socket === undefined) return;
    socket.toServer(() => {
      const session = this.#sessions.get(socket);
      if (session !== undefined) socket.server.unsubscribe(session, channel);
    });
  }

  fence(): Promise<void> {
    return new Promise((resolve) => {
      this.#fences.push(resolve);
      if (this.socket !== undefined && this.#isOpened) this.#ping(this.socket, resolve);
    });
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#readOn();
  }

  protected opened(socket: Socket): void {
    if (this.network.route(this.pod).deafUntil > this.network.time.now) socket.vanish('both');
    this.#isOpened = true;
    this.#paused = false;
    this.#bytesRead = 0;
    this.#unread = [];
    const session: Session = {
      kind: 'pubsub',
      deliver: (channel, payload) => {
        const bytes = channel.length + payload.length + FRAME_BYTES;
        this.#push(socket, session, {
          bytes,
          take: () => this.listeners.get(channel)?.(payload),
        });
      },
      close: () => socket.closeByServer(),
      moved: (channel) =>
        this.#push(socket, session, { bytes: FRAME_BYTES, take: () => this.moved(channel) }),
    };
    socket.toServer(() => {
      this.#sessions.set(socket, session);
      socket.server.sessions.add(session);
    });
    for (const channel of this.joinedAtOnce) this.#subscribe(socket, channel);
    // Redis replies in order, so the reply to a PING follows the replies to all SUBSCRIBEs.
    socket.toServer(() =>
      this.#push(socket, session, { bytes: FRAME_BYTES, take: () => this.becomeReady() }),
    );
    for (const resolve of this.#fences) this.#ping(socket, resolve);
  }

  /** The channels that are joined at once on a new connection. */
  protected abstract get joinedAtOnce(): Iterable<string>;

  /** Called when the server has unsubscribed a channel by itself. */
  protected abstract moved(channel: string): void;

  /** Called when the server refuses a channel without a waiting call. */
  protected abstract refused(): void;

  protected abstract errorOf(refusal: string): Error;

  protected lost(): void {
    this.#isOpened = false;
    this.#unread = [];
  }

  protected endedAtServer(server: SimulatedRedis, socket: Socket): void {
    const session = this.#sessions.get(socket);
    if (session !== undefined) server.forget(session);
    this.#sessions.delete(socket);
  }

  #subscribe(socket: Socket, channel: string): void {
    socket.toServer(() => {
      const session = this.#sessions.get(socket);
      if (session === undefined) return;
      const refused = socket.server.subscribe(session, channel);
      this.#push(socket, session, {
        bytes: channel.length + FRAME_BYTES,
        take: () => this.#acknowledged(channel, refused),
      });
    });
  }

  #ping(socket: Socket, resolve: () => void): void {
    const take = (): void => {
      this.#fences = this.#fences.filter((waiting) => waiting !== resolve);
      resolve();
    };
    socket.toServer(() => {
      const session = this.#sessions.get(socket);
      if (session !== undefined) this.#push(socket, session, { bytes: FRAME_BYTES, take });
    });
  }

  #acknowledged(channel: string, refused: string | undefined): void {
    const joining = this.joining.get(channel);
    this.joining.delete(channel);
    if (refused === undefined) {
      for (const { resolve } of joining ?? []) resolve();
    } else if (joining === undefined) this.refused();
    else {
      this.listeners.delete(channel);
      for (const { reject } of joining) reject(this.errorOf(refused));
    }
  }

  /** Writes a push to the connection. */
  #push(socket: Socket, session: Session, push: Push): void {
    socket.unreadBytes += push.bytes;
    if (socket.unreadBytes > OUTPUT_BUFFER_BYTES) {
      socket.server.drop(session);
      return;
    }
    socket.toPod(() => {
      if (this.socket !== socket) return;
      this.#unread.push(push);
      this.#readOn();
    });
  }

  #readOn(): void {
    const { socket } = this;
    for (let push = this.#next(socket); push !== undefined; push = this.#next(socket)) {
      if (socket !== undefined) socket.unreadBytes -= push.bytes;
      this.#bytesRead += push.bytes;
      push.take();
    }
  }

  /** Returns the next push: the pod may pause or end the connection when it handles one. */
  #next(socket: Socket | undefined): Push | undefined {
    return this.#paused || this.socket !== socket ? undefined : this.#unread.shift();
  }
}

/** A connection that joins all its channels again when it is made anew. */
export class SimulatedListeningConnection extends SimulatedListening implements ListeningConnection {
  join(channel: string, listener: Listener): Promise<void> {
    return this.joinOne(channel, listener);
  }

  protected get joinedAtOnce(): Iterable<string> {
    return this.listeners.keys();
  }

  protected moved(): void {}

  /** Makes the connection anew: without a channel that was joined before, it is useless. */
  protected refused(): void {
    this.reconnect();
  }

  protected errorOf(refusal: string): Error {
    return new Error(refusal);
  }
}
