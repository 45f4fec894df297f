import {
  TransactionRefused,
  type Command,
  type CommandConnection,
  type Reply,
} from '../../../src/bus/redis/connection.ts';
import type { Timer } from '../time/virtual-time.ts';
import { SimulatedConnection } from './connection.ts';
import type { Session, SimulatedRedis } from './server.ts';
import type { Socket } from './socket.ts';

/** The pod closes the connection, and makes it anew, if Redis has not replied for this time. */
const REPLY_TIMEOUT_MS = 10_000;

/** The share of pipelines that reach the server in two parts. */
const SPLIT = 0.3;

interface Waiting {
  readonly reject: (error: Error) => void;
}

const lostError = (): Error => new Error('the connection to Redis is lost');

export class SimulatedCommandConnection extends SimulatedConnection implements CommandConnection {
  readonly #waiting = new Set<Waiting>();
  readonly #sessions = new Map<Socket, Session>();
  #timeout: Timer | undefined;

  send(commands: readonly Command[]): Promise<readonly Reply[]> {
    const { random } = this.network;
    const cut = random.chance(SPLIT) ? random.between(0, commands.length) : commands.length;
    const replies: Reply[] = [];
    return this.#request<readonly Reply[]>((socket, resolve) => {
      const part = (some: readonly Command[], isLast: boolean) => (): void => {
        const session = this.#sessions.get(socket);
        const run = some.map((command) => socket.server.run(command, session));
        socket.toPod(() => {
          replies.push(...run);
          if (isLast) resolve(replies);
        });
      };
      if (cut > 0 && cut < commands.length) {
        socket.toServer(part(commands.slice(0, cut), false));
        // Commands of other clients may come in between.
        socket.toServer(part(commands.slice(cut), true));
      } else {
        socket.toServer(part(commands, true));
      }
    });
  }

  transact(commands: readonly Command[]): Promise<readonly Reply[]> {
    return this.#request<readonly Reply[]>((socket, resolve, reject) => {
      socket.toServer(() => {
        const replies = socket.server.transact(commands);
        socket.toPod(() => {
          if (typeof replies === 'string') reject(new TransactionRefused(replies));
          else resolve(replies);
        });
      });
    });
  }

  /** 0 until the connection is ready: the handshake is a single exchange. */
  get bytesRead(): number {
    return 0;
  }

  protected opened(socket: Socket): void {
    const session: Session = {
      kind: 'normal',
      deliver: () => undefined,
      close: () => socket.closeByServer(),
    };
    socket.toServer(() => {
      this.#sessions.set(socket, session);
      socket.server.sessions.add(session);
      socket.toPod(() => this.becomeReady());
    });
  }

  protected lost(): void {
    if (this.#timeout !== undefined) this.network.time.cancel(this.#timeout);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(lostError());
  }

  protected endedAtServer(server: SimulatedRedis, socket: Socket): void {
    const session = this.#sessions.get(socket);
    if (session !== undefined) server.forget(session);
    this.#sessions.delete(socket);
  }

  #request<T>(
    send: (socket: Socket, resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ): Promise<T> {
    const { socket } = this;
    if (socket === undefined || !this.ready) return Promise.reject(lostError());
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { reject };
      this.#waiting.add(waiting);
      if (this.#waiting.size === 1) this.#watch();
      const settle = (done: () => void): void => {
        if (!this.#waiting.delete(waiting)) return;
        this.#watch();
        done();
      };
      send(
        socket,
        (value) => settle(() => resolve(value)),
        (error) => settle(() => reject(error)),
      );
    });
  }

  /** Begins to wait for the next reply, if a command waits for one. */
  #watch(): void {
    const { time } = this.network;
    if (this.#timeout !== undefined) time.cancel(this.#timeout);
    if (this.#waiting.size === 0) return;
    this.#timeout = time.after(REPLY_TIMEOUT_MS, this.pod, () => this.reconnect());
  }
}
