import { once } from 'node:events';
import type { Step } from './session.ts';

/** Sends messages: objects as JSON, texts and bytes as they are. */
export const send =
  (...messages: readonly unknown[]): Step =>
  ({ socket }) => {
    for (const message of messages) {
      if (Buffer.isBuffer(message)) socket.webSocket.send(message, { binary: true });
      else socket.send(message);
    }
  };

/** The same, in one write. */
export const sendTogether =
  (...messages: readonly unknown[]): Step =>
  ({ socket }) =>
    socket.sendTogether(...messages);

/** Waits for a message of a type, for an operation if it is about one, or until the server closes the socket. */
export const until =
  (type: string, id?: string): Step =>
  (session) =>
    session.until((message) => message.type === type && message.id === id);

export const untilClosed: Step = ({ socket }) => socket.closed;

/** An event comes once so many subscriptions listen, and has arrived at `id`. */
export const event =
  (n: number, { listeners = 1, id = '1' } = {}): Step =>
  async (session) => {
    await session.server.emit(n, listeners);
    await session.until(
      ({ type, id: of, payload }) =>
        type === 'next' && of === id && JSON.stringify(payload).includes(`"n":${n}`),
    );
  };

/** An event comes that no subscription of the case is left for. */
export const unheardEvent =
  (n: number): Step =>
  ({ server }) =>
    server.emit(n, 0);

export const untilListeners =
  (count: number): Step =>
  ({ server }) =>
    server.untilListeners(count);

/** A ping of WebSocket itself. */
export const pingFrame: Step = async ({ socket: { webSocket } }) => {
  webSocket.ping('mark');
  await once(webSocket, 'pong');
};

export const init = (payload?: unknown): object => ({ type: 'connection_init', payload });

/** Connects and is acknowledged. */
export const connected: readonly Step[] = [send(init()), until('connection_ack')];

export const subscribe = (id: unknown, query: unknown, more: object = {}): object => ({
  type: 'subscribe',
  id,
  payload: { query, ...more },
});

export const complete = (id: unknown): object => ({ type: 'complete', id });
