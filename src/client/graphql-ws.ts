/**
 * The part of graphql-ws 5 and 6 that this client uses. The types are our own, so that the client has no dependency.
 */
export interface SocketClient {
  on(event: 'connected', listener: () => void): unknown;
  subscribe(payload: Payload, sink: Sink): () => void;
}

export interface Payload {
  readonly extensions?: Record<string, unknown> | null | undefined;
}

export interface Sink {
  next(result: Result): void;
  error(error: unknown): void;
  complete(): void;
}

export interface Result {
  readonly data?: unknown;
  readonly errors?: unknown;
  readonly extensions?: unknown;
}
