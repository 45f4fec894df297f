import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { WebSocket, type ClientOptions } from 'ws';
import { Changes } from './changes.ts';

export interface ServerMessage {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

/** A WebSocket that sends any message that a test tells it to, good or bad, and keeps the answers. */
export class RawSocket {
  readonly webSocket: WebSocket;
  readonly messages: ServerMessage[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #changes = new Changes();
  #closeCode: number | undefined;

  constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on('message', (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString()) as ServerMessage);
      this.#changes.emit();
    });
    webSocket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      webSocket.once('close', (code, reason) => {
        this.#closeCode = code;
        this.#changes.emit();
        resolve({ code, reason: reason.toString() });
      });
    });
  }

  send(...messages: unknown[]): void {
    for (const message of messages)
      this.webSocket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Sends several messages so that they reach the server in one read. */
  sendTogether(...messages: unknown[]): void {
    const { _socket: stream } = this.webSocket as unknown as { _socket: { cork(): void; uncork(): void } };
    stream.cork();
    this.send(...messages);
    stream.uncork();
  }

  subscribe(id: string, query: string, variables?: Record<string, unknown>, extensions?: unknown): void {
    this.send(subscribeMessage(id, query, variables, extensions));
  }

  /**
   * Resolves with the first message that fits, past or to come.
   *
   * @throws if the socket closes before, or no such message comes in the time that a busy machine may take
   */
  async until(fits: (message: ServerMessage) => boolean): Promise<ServerMessage> {
    const last = () => `the last message was ${JSON.stringify(this.messages.at(-1) ?? null).slice(0, 500)}`;
    return this.#changes.until(
      () => {
        const found = this.messages.find(fits);
        if (found === undefined && this.#closeCode !== undefined)
          throw new Error(`the socket was closed with ${this.#closeCode}; ${last()}`);
        return found;
      },
      () => `no such message; ${last()}`,
    );
  }

  /** Sends a ping and waits for the pong: then the gateway has handled all earlier messages. */
  async roundTrip(): Promise<void> {
    const mark = Math.random();
    this.send({ type: 'ping', payload: { mark } });
    await this.until(({ type, payload }) => type === 'pong' && (payload as { mark: number }).mark === mark);
  }
}

export const subscribeMessage = (
  id: string,
  query: string,
  variables: Record<string, unknown> = {},
  extensions?: unknown,
): object => ({ id, type: 'subscribe', payload: { query, variables, extensions } });

/** Connects without sending a message of the protocol. */
export async function connect(t: TestContext, url: string, options: ClientOptions = {}): Promise<RawSocket> {
  const webSocket = new WebSocket(url, 'graphql-transport-ws', options);
  t.after(() => webSocket.terminate());
  const socket = new RawSocket(webSocket);
  await once(webSocket, 'open');
  return socket;
}

/** Connects and is acknowledged. */
export async function connectAndInit(t: TestContext, url: string, payload?: object): Promise<RawSocket> {
  const socket = await connect(t, url);
  socket.send({ type: 'connection_init', payload });
  await socket.until(({ type }) => type === 'connection_ack');
  return socket;
}
