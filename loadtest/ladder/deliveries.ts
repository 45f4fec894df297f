import type { ExecutionResult } from 'graphql';
import type { Extra } from 'graphql-ws/use/ws';
import type { WebSocket } from 'ws';
import { Flusher } from '../../src/transports/websocket/flusher.ts';
import { idText } from '../../src/transports/websocket/frame.ts';
import { Outbox } from '../../src/transports/websocket/send-queue.ts';
import { Payload } from '../../src/hub/result.ts';
import { RawSocket } from '../../src/transports/websocket/raw-socket.ts';
import type { Member } from './member.ts';
import { PendingResults } from './pending-results.ts';
import { ResultQueue } from './result-queue.ts';
import type { Subscriber } from './subscriber.ts';

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
export const sharedFrames: Delivery<Payload> = throughOutbox((outbox, payload, id) => {
  outbox.add(payload, id);
  outbox.flush();
});

/** Frames for one socket that become ready in one turn of the event loop leave together. */
export const oneWritePerTurn: Delivery<Payload> = throughOutbox((outbox, payload, id) =>
  outbox.add(payload, id),
);

/** What a slow client costs is not the ladder's question: it gets more time than the gateway would give it. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

const flusher = new Flusher(Date.now, () => undefined);
const outboxes = new WeakMap<WebSocket, Outbox>();

function throughOutbox(add: (outbox: Outbox, payload: Payload, id: string) => void): Delivery<Payload> {
  return {
    share: (result) => new Payload(result),
    member({ id, connection }, left) {
      const outbox = outboxOf(connection);
      const text = idText(id);
      return new PendingResults((payload) => add(outbox, payload, text), left);
    },
  };
}

function outboxOf({ socket, request }: Extra): Outbox {
  const known = outboxes.get(socket);
  if (known !== undefined) return known;
  const owner = { overflow: () => socket.terminate() };
  const outbox = new Outbox(new RawSocket(socket, request.socket), owner, flusher, MAX_WAITING_BYTES);
  outboxes.set(socket, outbox);
  return outbox;
}
