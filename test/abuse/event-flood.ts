import assert from 'node:assert/strict';
import type { GatewayProcess } from '../helpers/gateway.ts';
import type { RawSocket } from '../helpers/raw-socket.ts';
import type { Scope } from '../helpers/scope.ts';
import { Pipeline, post } from './pipeline.ts';

/** How often requests are written: ms. */
const INTERVAL_MS = 10;

/** The gateway closes a connection with far more of them. */
const MOST_UNANSWERED = 100;

const ACCEPTED = 202;

/**
 * Posts events at a rate, over one connection. Waits for all answers.
 *
 * @param eventOf of the n-th event, from 1 on
 * @returns when each was sent, by number: ms
 */
export async function floodWith(
  scope: Scope,
  gateway: GatewayProcess,
  topic: string,
  eventOf: (n: number) => object,
  { perSecond, count }: { readonly perSecond: number; readonly count: number },
): Promise<ReadonlyMap<number, number>> {
  const pipeline = new Pipeline(scope, gateway);
  const { socket, statuses } = pipeline;
  const sentAt = new Map<number, number>();
  const began = performance.now();
  await new Promise<void>((resolve, reject) => {
    socket.once('close', () => reject(new Error('expected the gateway to keep the connection')));
    const timer = setInterval(() => {
      const byRate = Math.floor(((performance.now() - began) * perSecond) / 1_000);
      const due = Math.min(count, byRate, statuses.length + MOST_UNANSWERED);
      let requests = '';
      while (sentAt.size < due) {
        const n = sentAt.size + 1;
        requests += post(`/events/${topic}`, JSON.stringify(eventOf(n)));
        sentAt.set(n, performance.now());
      }
      if (requests !== '') socket.write(requests);
      if (sentAt.size < count) return;
      clearInterval(timer);
      resolve();
    }, INTERVAL_MS);
    scope.after(() => clearInterval(timer));
  });
  await pipeline.until(count);
  assert.deepEqual([...new Set(statuses)], [ACCEPTED]);
  return sentAt;
}

/** Notes when the events of one subscriber come, by their number `n`: ms. */
export function arrivalsAt({ webSocket }: RawSocket): ReadonlyMap<number, number> {
  const arrivals = new Map<number, number>();
  webSocket.on('message', (data: Buffer) => {
    const n = /"n":(\d+)/.exec(data.toString())?.[1];
    if (n !== undefined) arrivals.set(Number(n), performance.now());
  });
  return arrivals;
}
