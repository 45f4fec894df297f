import type { ExecutionResult } from 'graphql';
import type { Extra } from 'graphql-ws/use/ws';
import type { WebSocket } from 'ws';
import { Flusher } from '../../../src/transports/delivery/flusher.ts';
import { idText } from '../../../src/transports/websocket/frame.ts';
import { SendQueue } from '../../../src/transports/delivery/send-queue.ts';
import { SerializedResult } from '../../../src/hub/result.ts';
import { NEXT_FRAMES } from '../../../src/transports/websocket/frame.ts';
import { RawSocket } from '../../../src/transports/websocket/raw-socket.ts';
import type { ResultStream } from './result-stream.ts';
import { PendingResults } from './pending-results.ts';
import { ResultQueue } from './result-queue.ts';
import type { Subscription } from './subscription.ts';

/** Delivers a group's result to its subscriptions. */
export interface Delivery<Shared> {
  /** Done once for the whole group. */
  share(result: ExecutionResult): Shared;
  /** @param onReturn called when graphql-ws ends the subscription */
  stream(subscription: Subscription, onReturn: () => void): ResultStream<Shared>;
}

/** graphql-ws gets the result of each subscription, and serialises it each time. */
export const throughGraphqlWs: Delivery<ExecutionResult> = {
  share: (result) => result,
  stream: (_subscription, onReturn) => new ResultQueue(onReturn),
};

/** Frames share their bytes except for the id, and go to the socket without graphql-ws. */
export const sharedFrames: Delivery<SerializedResult> = throughSendQueue((sendQueue, payload, id) => {
  sendQueue.add(payload, id);
  sendQueue.flush();
});

/** All frames for one socket that become ready in one turn of the event loop leave in one write. */
export const oneWritePerTurn: Delivery<SerializedResult> = throughSendQueue((sendQueue, payload, id) =>
  sendQueue.add(payload, id),
);

/** The ladder does not measure slow clients: more bytes may wait for one than in the gateway. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

const flusher = new Flusher(Date.now, () => undefined);
const sendQueues = new WeakMap<WebSocket, SendQueue>();

function throughSendQueue(
  add: (sendQueue: SendQueue, payload: SerializedResult, id: string) => void,
): Delivery<SerializedResult> {
  return {
    share: (result) => new SerializedResult(result),
    stream({ id, connection }, onReturn) {
      const sendQueue = sendQueueOf(connection);
      const text = idText(id);
      return new PendingResults((payload) => add(sendQueue, payload, text), onReturn);
    },
  };
}

function sendQueueOf({ socket, request }: Extra): SendQueue {
  const known = sendQueues.get(socket);
  if (known !== undefined) return known;
  const owner = { overflow: () => socket.terminate() };
  const sendQueue = new SendQueue(
    new RawSocket(socket, request.socket, NEXT_FRAMES),
    owner,
    flusher,
    MAX_WAITING_BYTES,
  );
  sendQueues.set(socket, sendQueue);
  return sendQueue;
}
