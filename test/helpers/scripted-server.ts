import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Payload, Result } from '../../src/client/graphql-ws.ts';
import { freePort } from './free-port.ts';
import { ScriptedOperation } from './scripted-operation.ts';

interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: Payload;
}

/** A server of graphql-transport-ws that answers operations only as the test tells it to. */
export class ScriptedServer {
  readonly url: string;
  readonly #port: number;
  #server: WebSocketServer;
  readonly #operations: ServedOperation[] = [];
  #wake: (() => void) | undefined;

  private constructor(server: WebSocketServer) {
    this.#port = (server.address() as AddressInfo).port;
    this.url = `ws://127.0.0.1:${this.#port}/graphql`;
    this.#server = server;
    this.#serve();
  }

  static async start(t: TestContext): Promise<ScriptedServer> {
    // A free port is locked, so that no other process takes it while the server is away.
    const server = new ScriptedServer(await listen(await freePort()));
    t.after(() => server.stop());
    return server;
  }

  /** Waits for the next operation of a client, new or repeated. */
  async operation(): Promise<ServedOperation> {
    for (;;) {
      const operation = this.#operations.shift();
      if (operation) return operation;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Cuts all sockets, and refuses further ones. */
  async stop(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    if (this.#server.address() === null) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  async startAgain(): Promise<void> {
    this.#server = await listen(this.#port);
    this.#serve();
  }

  #serve(): void {
    this.#server.on('connection', (socket) => {
      const open = new Map<string, ServedOperation>();
      socket.on('message', (data: Buffer) => {
        const { type, id = '', payload = {} } = JSON.parse(data.toString()) as Message;
        if (type === 'connection_init') socket.send(JSON.stringify({ type: 'connection_ack' }));
        else if (type === 'complete') open.get(id)?.markStopped();
        else if (type === 'subscribe') {
          const operation = new ServedOperation(socket, id, payload);
          open.set(id, operation);
          this.#operations.push(operation);
          this.#wake?.();
        }
      });
    });
  }
}

/** One operation on one socket. */
class ServedOperation extends ScriptedOperation {
  readonly payload: Payload;
  /** Resolves when the client has unsubscribed. */
  readonly stopped: Promise<unknown>;
  readonly #stop = new EventEmitter();
  readonly #socket: WebSocket;
  readonly #id: string;

  constructor(socket: WebSocket, id: string, payload: Payload) {
    super();
    this.#socket = socket;
    this.#id = id;
    this.payload = payload;
    this.stopped = once(this.#stop, 'stop');
  }

  markStopped(): void {
    this.#stop.emit('stop');
  }

  get resume(): unknown {
    return this.payload.extensions?.['resume'];
  }

  next(result: Result): void {
    this.#send({ type: 'next', payload: result });
  }

  error(message: string): void {
    this.#send({ type: 'error', payload: [{ message }] });
  }

  complete(): void {
    this.#send({ type: 'complete' });
  }

  /** Resolves when the client has read all that was sent. */
  async read(): Promise<void> {
    const pong = once(this.#socket, 'pong');
    this.#socket.ping();
    await pong;
  }

  /** Closes the operation's socket with the code; without one, cuts the socket, and the client sees 1006. */
  cut(code?: number): void {
    if (code === undefined) this.#socket.terminate();
    else this.#socket.close(code);
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify({ id: this.#id, ...message }));
  }
}

async function listen(port: number): Promise<WebSocketServer> {
  const server = new WebSocketServer({ port, handleProtocols: () => 'graphql-transport-ws' });
  await once(server, 'listening');
  return server;
}
