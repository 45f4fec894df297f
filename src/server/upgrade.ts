import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { TurnTaker, Turns } from '../support/turns.ts';
import type { Admission, HttpRefusal } from './admission.ts';
import type { OriginCheck } from './origin-check.ts';
import { refusalBody } from './respond.ts';
import { pathOf } from './router.ts';

/** Takes over the socket, including its `error` events. */
export type AcceptUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface UpgradeOptions {
  /** The only path at which WebSockets are accepted. */
  readonly path: string;
  readonly originCheck: OriginCheck;
  readonly admission: Pick<Admission, 'refusal' | 'admitted'>;
  readonly accept: AcceptUpgrade;
  /** Upgrades take turns with requests of other clients: thousands may come at the same instant. */
  readonly turns: Pick<Turns, 'run'>;
  /** Why the server accepts no WebSockets at all. Called in an upgrade's turn, as the server may stop meanwhile. */
  readonly unavailable: () => HttpRefusal | undefined;
  readonly log: Log;
}

/**
 * Admits WebSockets: checks path, origin and caps before the handshake.
 *
 * No closure outlives a socket's turn: it would keep the request, three kilobytes, in memory as long as the socket is open.
 */
export class Upgrade {
  readonly #options: UpgradeOptions;

  constructor(options: UpgradeOptions) {
    this.#options = options;
  }

  readonly handle: AcceptUpgrade = (request, socket, head) => {
    this.#options.turns.run(new WaitingSocket(socket), () => {
      if (!socket.destroyed) this.#admit(request, socket, head);
      return 0;
    });
  };

  #admit(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { accept, admission, unavailable, log } = this.#options;
    const refusal = unavailable() ?? this.#refusal(request) ?? admission.refusal(request);
    if (refusal !== undefined) {
      refuseUpgrade(socket, refusal);
      return;
    }
    try {
      admission.admitted(request, socket);
      accept(request, socket, head);
    } catch (error) {
      log.error({ err: error }, `upgrade failed: ${messageOf(error)}`);
      socket.destroy();
    }
  }

  #refusal(request: IncomingMessage): HttpRefusal | undefined {
    const { path, originCheck } = this.#options;
    if (pathOf(request) !== path) return { status: 404, message: `WebSockets are accepted at ${path} only` };
    return originCheck.refusal(request.headers);
  }
}

/** A socket that waits for its turn. */
class WaitingSocket implements TurnTaker {
  spentUntil = 0;
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  hold(): void {
    this.#socket.on('error', ignore);
  }

  resume(): void {
    this.#socket.off('error', ignore);
  }

  overrun(): void {
    throw new Error('expected one job of a socket, got more');
  }
}

/** Responds to an upgrade request with a complete HTTP response and closes the connection. */
export function refuseUpgrade(socket: Duplex, refusal: HttpRefusal): void {
  const { status, retryAfter } = refusal;
  socket.on('error', ignore);
  socket.once('finish', destroy);
  const body = `${JSON.stringify(refusalBody(refusal))}\n`;
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
}

/** The peer has disconnected before it was refused. */
function ignore(): void {}

function destroy(this: Duplex): void {
  this.destroy();
}
