import type { Duplex } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { Flusher, Outbox } from '../../src/hub/flush.ts';
import { frameSuffix } from '../../src/hub/frame.ts';
import { Payload } from '../../src/hub/payload.ts';
import { PendingResults } from './pending-results.ts';
import { ResultQueue } from './result-queue.ts';
import type { Subscriber } from './subscriber.ts';

/** A subscriber to which results are given, and what graphql-ws iterates over for it. */
export interface Member<Shared> extends AsyncIterableIterator<ExecutionResult, undefined> {
  deliver(shared: Shared): void;
}

/** How a group's result gets to its members. */
export interface Delivery<Shared> {
  /** What is done once for all members. */
  share(result: ExecutionResult): Shared;
  member(subscriber: Subscriber, left: () => void): Member<Shared>;
}

/** Each gets the result, and graphql-ws writes it down for each. */
export const throughGraphqlWs: Delivery<ExecutionResult> = {
  share: (result) => result,
  member: (_subscriber, left) => new ResultQueue(left),
};

/** Each frame is the same bytes but for the id, and goes past graphql-ws to the socket. */
export const sharedFrames: Delivery<Payload> = framesTo((stream) => ({
  add(prefix, suffix) {
    stream.cork();
    stream.write(prefix);
    stream.write(suffix);
    stream.uncork();
  },
}));

/** Frames for one socket that become ready in one turn of the event loop leave together. */
export const oneWritePerTurn: Delivery<Payload> = framesTo(outboxOf);

/** Far more than one event takes: what a slow client costs is not the ladder's question. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

const flusher = new Flusher(Date.now, () => undefined);
const outboxes = new WeakMap<Duplex, Outbox>();

function outboxOf(stream: Duplex): Outbox {
  const known = outboxes.get(stream);
  if (known !== undefined) return known;
  const outbox = new Outbox(
    {
      get open() {
        return stream.writable;
      },
      get waitingBytes() {
        return stream.writableLength;
      },
      write(chunks) {
        for (const chunk of chunks) stream.write(chunk);
      },
      overflow: () => stream.destroy(),
    },
    flusher,
    MAX_WAITING_BYTES,
  );
  outboxes.set(stream, outbox);
  return outbox;
}

function framesTo(outboxFor: (stream: Duplex) => Pick<Outbox, 'add'>): Delivery<Payload> {
  return {
    share: (result) => new Payload(result),
    member({ id, stream }, left) {
      const suffix = frameSuffix(id);
      const outbox = outboxFor(stream);
      return new PendingResults((payload) => outbox.add(payload.prefixFor(suffix.length), suffix), left);
    },
  };
}
