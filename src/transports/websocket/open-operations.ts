import { SmallSet } from '../../support/small-set.ts';
import type { ClientMessage } from './client-message.ts';
import type { PodTally, ViewerTally } from '../connections/viewers.ts';

/** The part of a connection that its operations use. */
export interface OperationsOwner {
  /** See CappedConnection. */
  readonly client: string | undefined;
  /** Hands a message to graphql-ws. Resolves when that is done with it: for `subscribe`, with its operation. */
  handOver(message: ClientMessage): Promise<void> | undefined;
  /** Has a job run within the connection's share of the event loop. */
  inTurn(job: () => void): void;
  /**
   * @param id of the operation that has failed; undefined: another message has
   * @param isOver the client expects no more of the operation
   */
  failed(error: unknown, id: string | undefined, isOver: boolean): void;
}

/**
 * The ids of one connection's operations that are open to the client; and how many they are, for the process and the
 * viewer.
 *
 * graphql-ws finds operations by their ids, and is done with one later than the client: an operation whose id the client
 * uses again meanwhile would be taken for the one before it. Its `subscribe` counts, but waits here:
 *
 *     subscribe ──► open ──► done
 *                    └─ over: `complete`, or refused ──► ending ──► done
 *     subscribe, while its id is ending ──► waits ──────────────────► open
 */
export class OpenOperations extends SmallSet {
  readonly #owner: OperationsOwner;
  readonly #process: Pick<PodTally, 'count'>;
  /** Ids with which graphql-ws is not done, though they are over, each with the `subscribe` that waits for that. */
  #ending: Map<string, ClientMessage | undefined> | undefined;
  /** Undefined while no viewer is known, or for one that nothing identifies. */
  viewer: ViewerTally | undefined;

  constructor(owner: OperationsOwner, process: Pick<PodTally, 'count'>) {
    super();
    this.#owner = owner;
    this.#process = process;
  }

  /** @returns false, and does nothing, if the message is a `subscribe` whose id is in use */
  receive(message: ClientMessage): boolean {
    const { type, id } = message;
    if (type === 'complete' && typeof id === 'string') this.over(id);
    if (type !== 'subscribe' || typeof id !== 'string') {
      this.#handOver(message);
      return true;
    }
    if (this.has(id)) return false;
    this.add(id);
    this.#count(1);
    if (this.isOver(id)) this.#ending?.set(id, message);
    else this.#handOver(message, id);
    return true;
  }

  /** The client expects no more of an operation, so it counts no more; one that waits does not begin. */
  over(id: string): void {
    if (!this.#remove(id)) return;
    this.#ending ??= new Map();
    this.#ending.set(id, undefined);
  }

  /** Whether the client expects no more of the operation that graphql-ws has of this id: the next one waits till then. */
  isOver(id: string): boolean {
    return this.#ending?.has(id) === true;
  }

  /** The connection has closed. */
  end(): void {
    this.#count(-this.size);
    this.clear();
    this.#ending = undefined;
  }

  /** @param id of the operation that the message begins */
  #handOver(message: ClientMessage, id?: string): void {
    // One function for both outcomes: a subscription holds it for as long as it lives.
    const onEnd = (error: unknown): void => this.#done(id, error);
    this.#owner.handOver(message)?.then(onEnd, onEnd);
  }

  #done(id: string | undefined, error: unknown): void {
    const isOver = id !== undefined && this.isOver(id);
    if (error !== undefined) this.#owner.failed(error, id, isOver);
    // In its turn, which counts the time that the next operation of this id takes. That may be over by then, too.
    if (isOver) this.#owner.inTurn(() => this.#beginNext(id));
    else if (id !== undefined) this.#remove(id);
  }

  #beginNext(id: string): void {
    const next = this.#ending?.get(id);
    this.#ending?.delete(id);
    if (this.#ending?.size === 0) this.#ending = undefined;
    if (next !== undefined) this.#handOver(next, id);
  }

  /** @returns false if it is not open: of a connection that has closed, none is */
  #remove(id: string): boolean {
    if (!this.has(id)) return false;
    this.delete(id);
    this.#count(-1);
    return true;
  }

  #count(operations: number): void {
    this.#process.count(operations, this.#owner.client);
    if (this.viewer !== undefined) this.viewer.operations += operations;
  }
}
