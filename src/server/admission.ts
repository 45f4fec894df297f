import type { IncomingMessage } from 'node:http';
import type { EventEmitter } from 'node:events';
import type { RefusalReason } from '../support/refusal.ts';
import { retryAfter } from './retry-after.ts';

/** Why a WebSocket is refused before its handshake. */
export interface AdmissionFault {
  readonly reason: RefusalReason;
  /** What was expected and what came, for the client. */
  readonly message: string;
}

/** A socket, or a response that has no end: it emits `close`, once. */
export type Closable = EventEmitter;

/** One reason to refuse new WebSockets: for example a cap, or pressure. */
export interface AdmissionCheck {
  /** Must be quick, and change nothing. */
  fault(request: IncomingMessage): AdmissionFault | undefined;
  /** No check has found a fault: the socket is being handed over. */
  admitted?(request: IncomingMessage, socket: Closable): void;
}

/** A refusal in terms of HTTP. */
export interface HttpRefusal {
  readonly status: number;
  readonly message: string;
  /** The code of a GraphQL error; if given, the body is such an error. */
  readonly code?: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

interface AdmissionOptions {
  /** In the order of the checks. */
  readonly checks: readonly AdmissionCheck[];
  readonly refused: (reason: RefusalReason) => void;
  /** 0 to 1, like Math.random. */
  readonly random: () => number;
}

/** Decides whether this pod takes one more WebSocket. Another pod may: a proxy tries it after a 503. */
export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** @returns undefined if the WebSocket may be accepted; then `admitted` must follow */
  refusal(request: IncomingMessage): HttpRefusal | undefined {
    const { checks, refused, random } = this.#options;
    for (const check of checks) {
      const fault = check.fault(request);
      if (fault === undefined) continue;
      refused(fault.reason);
      return { status: 503, message: fault.message, retryAfter: retryAfter(random) };
    }
    return undefined;
  }

  admitted(request: IncomingMessage, socket: Closable): void {
    for (const check of this.#options.checks) check.admitted?.(request, socket);
  }
}
