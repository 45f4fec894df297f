/** One Redis command: its name and its arguments. */
export type Command = readonly [name: string, ...args: string[]];

/** What Redis replied to one command: a value (text, a number, null, or a list of such), or why it refused the command. */
export type Reply = { readonly value: unknown } | { readonly error: Error };

/** @throws the error of the reply, or an error if there is no reply */
export function valueOf(reply: Reply | undefined): unknown {
  if (reply === undefined) throw new Error('Redis has not replied to each command');
  if ('error' in reply) throw reply.error;
  return reply.value;
}

/** Redis has run none of a transaction's commands, since it refused at least one. */
export class TransactionRefused extends Error {
  /** What Redis said of the first command that it refused, for instance `NOPERM …`, `READONLY …`, `OOM …`, `BUSY …`. */
  readonly reason: string;

  constructor(reason: string) {
    super(`Redis has refused a transaction: ${reason}`);
    this.name = 'TransactionRefused';
    this.reason = reason;
  }
}

/** Common to both connections of a bus. A lost connection is made again, until `stop`. */
interface Connection {
  /** Begins to connect, and returns at once. */
  start(listener: ConnectionListener): void;
  stop(): void;
  /** Closes the present connection, without waiting for anything, and makes another one. */
  reconnect(): void;
}

export interface ConnectionListener {
  /** Called when the connection is made, for the first time or again after it was lost. */
  onReady(): void;
  /** Called when the connection is lost, once for each `onReady`. */
  onLost(): void;
}

/** The connection that a bus sends commands over. While it is not ready, commands are rejected at once. */
export interface CommandConnection extends Connection {
  /**
   * Sends commands in one go; Redis runs them in this order, but others' commands may come in between.
   *
   * @returns a reply to each
   * @throws if the connection is lost: any number of the first ones may have been run
   */
  send(commands: readonly Command[]): Promise<readonly Reply[]>;
  /**
   * Sends a transaction (MULTI and EXEC): Redis runs all commands, and nothing in between, or none.
   *
   * @returns a reply to each
   * @throws TransactionRefused if none has been run; another error if the connection is lost: they may have been run
   */
  transact(commands: readonly Command[]): Promise<readonly Reply[]>;
}

/**
 * The connection that a bus listens on. It joins the channels again by itself before a new connection counts as ready.
 * Messages arrive in the order in which Redis got them.
 */
export interface ListeningConnection extends Connection {
  /** Resolves once Redis has acknowledged it, which may be on a later connection; rejects if Redis refuses it. */
  join(channel: string, listener: (payload: Buffer | string) => void): Promise<void>;
  /** Only for a channel whose join has resolved. */
  leave(channel: string): void;
  /**
   * Resolves once all messages that Redis has sent before have reached their listeners: Redis answers after them. Without a
   * connection, it waits for the next one.
   */
  fence(): Promise<void>;
  /** Reads nothing more from the present connection until `resume`. A new connection does read. */
  pause(): void;
  resume(): void;
  /** Bytes that have come over the present connection. */
  readonly bytesRead: number;
}
