import { resumable, type Gap, type Skipped } from '../../../src/client/client.ts';
import type { Payload, Result, Sink } from '../../../src/client/graphql-ws.ts';
import { FakeClient } from './fake-client.ts';

/** A resumable client of a page, and all that it was told of gaps and of what was left out. */
export function wrapped() {
  const server = new FakeClient();
  const gaps: Gap<Payload>[] = [];
  const skips: Skipped<Payload>[] = [];
  const client = resumable(server, {
    onGap: (gap) => gaps.push(gap),
    onSkipped: (skipped) => skips.push(skipped),
  });
  return { server, client, gaps, skips };
}

/** Keeps what has reached a subscriber. Its methods are on the prototype, as those of an RxJS Subscriber. */
export class Subscriber implements Sink {
  readonly results: Result[] = [];
  readonly ends: unknown[] = [];

  next(result: Result): void {
    this.results.push(result);
  }

  error(error: unknown): void {
    this.ends.push(error);
  }

  complete(): void {
    this.ends.push('complete');
  }

  get numbers(): (number | undefined)[] {
    return this.results.map(({ data }) => (data as { n: number } | null)?.n);
  }
}

/** One subscription on a first socket. */
export function subscribed(payload: Payload = { extensions: {} }) {
  const { server, client, gaps, skips } = wrapped();
  const subscriber = new Subscriber();
  const stop = client.subscribe(payload, subscriber);
  const { operation } = server;
  server.connect();
  /** On a new socket, where the server greets so. */
  const reconnect = (recovered: boolean, cursor?: string): void => {
    server.connect();
    operation.greet(recovered, cursor);
  };
  return { payload, server, client, gaps, skips, subscriber, operation, stop, reconnect };
}

/** One that has had its first event, with the cursor `c1`. */
export function begun(payload?: Payload) {
  const parts = subscribed(payload);
  parts.operation.greet(true, 'c0');
  parts.operation.event(1, 'c1');
  return parts;
}
