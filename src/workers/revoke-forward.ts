import { messageOf } from '../errors.ts';
import { HttpError } from '../server/http-error.ts';
import { revokeRoute } from '../server/revoke-route.ts';
import type { Route } from '../server/router.ts';

/** A worker that has to be told, a draining one included. */
interface Told {
  readonly slot: number;
  /** 0 while it does not listen, and has no sockets. */
  readonly adminPort: number;
}

const TIMEOUT_MS = 5_000;

/**
 * `POST /revoke` of the primary: tells all its workers, with one time for all.
 *
 * @param keepMs see `revokeRoute`
 */
export function revokeForward(workers: () => readonly Told[], keepMs: number): Route {
  return revokeRoute(async (revocation) => {
    const body = JSON.stringify(revocation);
    const listening = workers().filter(({ adminPort }) => adminPort > 0);
    if (listening.length === 0) throw new Error('no worker listens');
    await Promise.all(listening.map(({ slot, adminPort }) => tell(slot, adminPort, body)));
  }, keepMs);
}

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
  // All workers have the same settings and would say the same: to send it again would not help.
  if (response.status === 400) throw new HttpError(400, messageIn(text));
  if (!response.ok) throw new Error(`worker ${slot} refuses it: ${text.trim()}`);
}

function messageIn(body: string): string {
  const { error } = JSON.parse(body) as { error?: unknown };
  return String(error);
}
