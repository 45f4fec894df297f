import type { Duplex } from 'node:stream';
import { WebSocket, type RawData } from 'ws';
import { DISCONNECTS, type Disconnect } from '../connections/disconnect.ts';
import type { Connection } from './connection.ts';

/** ws calls listeners with the socket as `this`: through this property they find the connection without a closure. */
const CONNECTION = Symbol('connection');

interface OwnedWebSocket extends WebSocket {
  [CONNECTION]: Connection;
}

interface OwnedStream extends Duplex {
  [CONNECTION]: Connection;
}

const { badFrame, notText, tooManyFrames, tooLarge } = DISCONNECTS;

const REFUSED_BY_WS: ReadonlyMap<number | undefined, Disconnect> = new Map(
  [badFrame, notText, tooManyFrames, tooLarge].map((disconnect) => [disconnect.code, disconnect]),
);

/**
 * If ws refuses what comes, it closes by itself, with only a code: the connection closes instead, and gives a reason. A
 * socket that is being closed is left to ws, which then does not wait for an answer to its close frame.
 */
export class GatewayWebSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    const isByWs = reason === undefined && this.readyState === this.OPEN;
    const refused = isByWs ? REFUSED_BY_WS.get(code) : undefined;
    if (refused === undefined) super.close(code, reason);
    else (this as unknown as OwnedWebSocket)[CONNECTION].endRefused(refused);
  }
}

/** Passes everything that comes over a WebSocket to its connection. */
export function listenTo(webSocket: WebSocket, stream: Duplex, connection: Connection): void {
  (webSocket as OwnedWebSocket)[CONNECTION] = connection;
  (stream as OwnedStream)[CONNECTION] = connection;
  // Called after ws's own listener.
  stream.on('data', onData);
  webSocket.on('message', onMessage);
  webSocket.on('ping', onPing);
  webSocket.on('pong', onPong);
  webSocket.on('error', onError);
  webSocket.on('close', onClose);
}

function onData(this: Duplex): void {
  (this as OwnedStream)[CONNECTION].onRead();
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  (this as OwnedWebSocket)[CONNECTION].receive(data, isBinary);
}

function onClose(this: WebSocket, code: number, reason: Buffer): void {
  (this as OwnedWebSocket)[CONNECTION].onClose(code, reason.toString());
}

function onPing(this: WebSocket, data: Buffer): void {
  (this as OwnedWebSocket)[CONNECTION].onPingFrame(data);
}

function onPong(this: WebSocket): void {
  (this as OwnedWebSocket)[CONNECTION].onPongFrame();
}

/** ws closes the socket itself after an error; `close` follows. */
function onError(): void {
  // Nothing to do, but without a listener it would end the process.
}
