import type { Payload, Result, Sink, SocketClient } from '../../../src/client/graphql-ws.ts';
import { ScriptedOperation } from '../../helpers/scripted-operation.ts';

/** In place of graphql-ws: the test is the server, and says when there is a new socket. */
export class FakeClient implements SocketClient {
  readonly operations: Operation[] = [];
  readonly #listeners: (() => void)[] = [];

  // What is wrapped is a plain object in graphql-ws, too.
  readonly on = (_event: 'connected', listener: () => void): void => void this.#listeners.push(listener);

  readonly subscribe = (payload: Payload, sink: Sink): (() => void) => {
    const operation = new Operation(payload, sink);
    this.operations.push(operation);
    return () => {
      operation.isStopped = true;
    };
  };

  /** That of graphql-ws calls its own `subscribe`, past the one around it. */
  readonly iterate = (_payload: Payload): AsyncIterableIterator<Result> => {
    throw new Error('Expected the iterate() that resumes, got that of the client within');
  };

  readonly dispose = (): string => 'disposed';

  /** A new socket, on which all operations are sent. */
  connect(): void {
    for (const listener of this.#listeners) listener();
    for (const operation of this.operations) operation.send();
  }

  /** The latest operation. */
  get operation(): Operation {
    const operation = this.operations.at(-1);
    if (!operation) throw new Error('Expected an operation, got none');
    return operation;
  }
}

/** What the server has of a subscription. */
class Operation extends ScriptedOperation {
  readonly payload: Payload;
  readonly #sink: Sink;
  /** The payload as it was on each socket. */
  readonly sent: Payload[] = [];
  isStopped = false;

  constructor(payload: Payload, sink: Sink) {
    super();
    this.payload = payload;
    this.#sink = sink;
  }

  send(): void {
    this.sent.push(JSON.parse(JSON.stringify(this.payload)) as Payload);
  }

  /** `extensions.resume` as it was on each socket. */
  get resumes(): unknown[] {
    return this.sent.map(({ extensions }) => extensions?.['resume']);
  }

  next(result: Result): void {
    this.#sink.next(result);
  }

  error(error: unknown): void {
    this.#sink.error(error);
  }

  complete(): void {
    this.#sink.complete();
  }
}
