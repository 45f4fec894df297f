import { SmallSet } from '../../support/small-set.ts';
import type { ClientMessage } from './client-message.ts';
import type { PodTally, ViewerTally } from '../connections/viewers.ts';

/** The part of a connection that its operations use. */
export interface OperationsOwner {
  /** See CappedConnection. */
  readonly client: string | undefined;
  /** Hands a message to graphql-ws. Resolves when graphql-ws is done with it: for `subscribe`, with the operation. */
  handOver(message: ClientMessage): Promise<void> | undefined;
  /** Runs a job within the connection's share of the event loop. */
  inTurn(job: () => void): void;
  /**
   * @param id of the operation that has failed; undefined: another message failed
   * @param isOver the client expects no more of the operation
   */
  failed(error: unknown, id: string | undefined, isOver: boolean): void;
}

/**
 * The ids of one connection's operations that the client considers open. It also counts them for the process and the
 * viewer.
 *
 * graphql-ws finds operations by their ids, and is done with an operation later than the client. If the client reuses the
 * id meanwhile, graphql-ws would confuse the two operations. So the new `subscribe` counts, but waits here:
 *
 *     subscribe ──► open ──► done
 *                    └─ over: `complete`, or refused ──► ending ──► done
 *     subscribe, while its id is ending ──► waits ──────────────────► open
 */
export class OpenOperations extends SmallSet {
  readonly #owner: OperationsOwner;
  readonly #process: Pick<PodTally, 'count'>;
  /** Ids that are over, but with which graphql-ws is not done yet, each with the `subscribe` that waits for it. */
  #ending: Map<string, ClientMessage | undefined> | undefined;
  /** Undefined while no viewer is known, or if nothing identifies it. */
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

  /** The client expects no more of an operation, so it no longer counts; if it waits, it does not begin. */
  over(id: string): void {
    if (!this.#remove(id)) return;
    this.#ending ??= new Map();
    this.#ending.set(id, undefined);
  }

  /** Whether an operation of this id is over for the client, but not yet for graphql-ws: the next one waits until then. */
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
    // In a turn, so that the next operation's time counts. That operation may be over by then, too.
    if (isOver) this.#owner.inTurn(() => this.#beginNext(id));
    else if (id !== undefined) this.#remove(id);
  }

  #beginNext(id: string): void {
    const next = this.#ending?.get(id);
    this.#ending?.delete(id);
    if (this.#ending?.size === 0) this.#ending = undefined;
    if (next !== undefined) this.#handOver(next, id);
  }

  /** @returns false if it is not open; after the connection has closed, none is */
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
