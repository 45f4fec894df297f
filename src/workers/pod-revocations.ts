import { Revocations } from '../auth/revocations.ts';
import { messageOf } from '../errors.ts';
import { HttpError } from '../server/http-error.ts';
import { revokeRoute, tooManyRevocations, type AskedRevocation } from '../server/revoke-route.ts';
import type { Route } from '../server/router.ts';
import type { PrimaryMessage } from './messages.ts';

/** A worker that must be told of revocations, a draining one included. */
interface Told {
  readonly slot: number;
  /** 0 while the worker does not listen, and has no sockets. */
  readonly adminPort: number;
  send(message: PrimaryMessage): void;
}

interface Starting extends Told {
  on(event: 'starting', listener: () => void): unknown;
}

const TIMEOUT_MS = 5_000;

/** Keeps the revocations that a pod's workers have been told of, for workers that start later: Redis may keep none. */
export class PodRevocations {
  /** `POST /revoke` of the primary: tells all its workers, with one time for all. */
  readonly route: Route;
  readonly #workers: () => readonly Told[];
  readonly #kept: Revocations;
  /** Workers that got the kept revocations as they started, and must be told of each later one. */
  readonly #begun = new WeakSet<Told>();

  /** @param keepMs see `revokeRoute` */
  constructor(workers: () => readonly Told[], keepMs: number) {
    this.#workers = workers;
    this.#kept = new Revocations({ keepMs, toleranceMs: 0, now: Date.now });
    this.route = revokeRoute((revocation) => this.#revoke(revocation), keepMs);
  }

  /** Sends the kept revocations to a worker when it asks, before it accepts clients. */
  hand(worker: Starting): void {
    worker.on('starting', () => {
      this.#begun.add(worker);
      worker.send({ type: 'revocations', revocations: this.#kept.list() });
    });
  }

  async #revoke(revocation: AskedRevocation): Promise<void> {
    if (this.#kept.isFullFor(revocation)) throw tooManyRevocations();
    const body = JSON.stringify(revocation);
    const listening = this.#workers().filter(({ adminPort }) => adminPort > 0);
    if (listening.length === 0) throw new Error('no worker listens');
    const tellings = listening.map(({ slot, adminPort }) => tell(slot, adminPort, body));
    const failures = (await Promise.allSettled(tellings)).flatMap((telling) =>
      telling.status === 'rejected' ? [telling.reason as Error] : [],
    );
    // All workers have the same settings and would refuse the revocation too: to send it again would not help.
    const refusal = failures.find((failure) => failure instanceof HttpError);
    if (refusal !== undefined) throw refusal;
    this.#kept.add(revocation);
    // For workers that did not listen yet, or did not answer; the other workers know the revocation already.
    for (const worker of this.#workers()) {
      if (this.#begun.has(worker)) worker.send({ type: 'revocations', revocations: [revocation] });
    }
    if (failures[0] !== undefined) throw failures[0];
  }
}

/** @throws HttpError if the worker would refuse the revocation at any time */
async function tell(slot: number, adminPort: number, body: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/revoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new Error(`worker ${slot} does not respond: ${messageOf(error)}`);
  });
  const text = await response.text();
  if (response.status === 400) throw new HttpError(400, messageIn(text));
  if (!response.ok) throw new Error(`worker ${slot} refuses it: ${text.trim()}`);
}

function messageIn(body: string): string {
  const { error } = JSON.parse(body) as { error?: unknown };
  return String(error);
}
