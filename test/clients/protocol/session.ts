import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { RawSocket, type ServerMessage } from '../../helpers/raw-socket.ts';
import type { Server } from './server.ts';

/** What a client sees of a case. */
export interface Outcome {
  /** The subprotocol that the server has chosen. */
  readonly subprotocol: string;
  readonly messages: readonly ServerMessage[];
  /** How the server has closed the socket, if it has. */
  readonly close?: { readonly code: number; readonly reason: string };
  /** Why the client has given up by itself. */
  readonly fault?: string;
}

/** One step of a case. */
export type Step = (session: Session) => void | Promise<unknown>;

/** What a case consists of. */
export interface Script {
  readonly steps: readonly Step[];
  /** What the client offers, if it is not graphql-transport-ws alone. */
  readonly subprotocols?: readonly string[];
}

const MARK = 'the end of a case';

const isLast = ({ type, payload }: ServerMessage): boolean =>
  type === 'pong' && (payload as { mark?: unknown } | undefined)?.mark === MARK;

/** A WebSocket on which a case is played. */
export class Session {
  readonly server: Server;
  readonly socket: RawSocket;

  private constructor(server: Server, socket: RawSocket) {
    this.server = server;
    this.socket = socket;
  }

  /** Plays a case to its end: the server has closed the socket, or has answered a last ping. */
  static async play(
    server: Server,
    { steps, subprotocols = [GRAPHQL_TRANSPORT_WS_PROTOCOL] }: Script,
  ): Promise<Outcome> {
    const webSocket = new WebSocket(server.url, [...subprotocols]);
    const session = new Session(server, new RawSocket(webSocket));
    let fault: string | undefined;
    webSocket.on('error', ({ message }) => (fault = message));
    await once(webSocket, 'open').catch(() => undefined);
    for (const step of steps) await step(session);
    const outcome = await session.#finish();
    return { ...outcome, ...(fault !== undefined && { fault }) };
  }

  /** Waits for a message, past or to come, or until the server closes the socket. */
  async until(fits: (message: ServerMessage) => boolean): Promise<void> {
    await this.socket.until(fits).catch((error: unknown) => {
      if (this.socket.webSocket.readyState !== WebSocket.CLOSED) throw error;
    });
  }

  async #finish(): Promise<Outcome> {
    const { webSocket, messages, closed } = this.socket;
    const { protocol } = webSocket;
    // Of the legacy subprotocol there is no ping.
    if (webSocket.readyState === WebSocket.OPEN && protocol !== 'graphql-ws') {
      this.socket.send({ type: 'ping', payload: { mark: MARK } });
      await this.until(isLast);
    }
    const isOpen = webSocket.readyState === WebSocket.OPEN;
    webSocket.close();
    const { code, reason } = await closed;
    await this.server.untilListeners(0);
    const seen = messages.filter((message) => !isLast(message));
    return { subprotocol: protocol, messages: seen, ...(!isOpen && { close: { code, reason } }) };
  }
}
