import type { IncomingMessage } from 'node:http';
import { MAX_REVOCATIONS } from '../auth/revocations.ts';
import { messageOf } from '../errors.ts';
import { readBody } from './body.ts';
import { HttpError } from './http-error.ts';
import { sendJson } from './respond.ts';
import type { Route } from './router.ts';

/** A requested revocation. */
export interface AskedRevocation {
  readonly path: string;
  readonly value: string;
  /** ms since 1970 */
  readonly at: number;
}

const MAX_BODY_BYTES = 4_096;
const MAX_PATH = 200;
const MAX_VALUE = 1_000;

/**
 * `POST /revoke`: ends the sockets of viewers, in all pods.
 *
 * @param revoke rejects if the revocation may not have been taken
 * @param keepMs how long revocations are remembered: an older one would be forgotten at once
 * @param now ms since 1970
 */
export function revokeRoute(
  revoke: (revocation: AskedRevocation) => Promise<void>,
  keepMs: number,
  now: () => number = Date.now,
): Route {
  return {
    path: '/revoke',
    methods: {
      POST: async (request, response) => {
        demandJson(request);
        const body = (await readBody(request, MAX_BODY_BYTES)).toString();
        const revocation = revocationIn(body, keepMs, now());
        await revoke(revocation).catch((error: unknown) => {
          if (error instanceof HttpError) throw error;
          throw new HttpError(
            503,
            `the revocation may not have been taken, send it again: ${messageOf(error)}`,
          );
        });
        sendJson(response, 202, { revoked: revocation });
      },
    },
  };
}

/** Demands JSON: a web page can't send it without a preflight request, which is not answered. */
function demandJson({ headers }: IncomingMessage): void {
  const type = headers['content-type'] ?? '';
  if (/^application\/json\s*(;|$)/i.test(type)) return;
  throw new HttpError(415, `expected content-type application/json, got ${type === '' ? 'none' : type}`);
}

/** The error for too many revocations: each takes memory as long as it is remembered. */
export function tooManyRevocations(): HttpError {
  return new HttpError(
    503,
    `expected at most ${MAX_REVOCATIONS} revocations in AUTH_REVOKED_SECONDS, got more`,
  );
}

const fault = (what: string): HttpError => new HttpError(400, `expected ${what}`);

/** @throws HttpError 400 */
function revocationIn(body: string, keepMs: number, now: number): AskedRevocation {
  const { path, value, at = now, ...others } = parsed(body);
  const unknown = Object.keys(others);
  if (unknown.length > 0) throw fault(`path, value and at, got ${unknown.join(', ')} too`);
  if (typeof path !== 'string' || path.length > MAX_PATH || !/^[^.]+(\.[^.]+)*$/.test(path)) {
    throw fault(`path to be names with dots between them, such as org.id, got ${JSON.stringify(path)}`);
  }
  const isText = typeof value === 'string' && value.length > 0 && value.length <= MAX_VALUE;
  if (!isText && typeof value !== 'number' && typeof value !== 'boolean') {
    throw fault(`value to be text, a number or a boolean, got ${JSON.stringify(value)}`);
  }
  if (!Number.isSafeInteger(at) || Number(at) < 0 || Number(at) > now) {
    throw fault(`at to be milliseconds since 1970, and not in the future, got ${JSON.stringify(at)}`);
  }
  if (Number(at) <= now - keepMs) {
    throw fault(
      `at to be within the last ${keepMs / 1000} seconds (AUTH_REVOKED_SECONDS), got ${Number(at)}`,
    );
  }
  return { path, value: String(value), at: Number(at) };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Answered like any other value that is not an object.
  }
  throw new HttpError(400, 'expected a JSON object such as {"path": "id", "value": "42"}');
}
