import { setTimeout as delay } from 'node:timers/promises';
import type { Audience } from '../clients/audience.ts';
import type { Load } from '../report/report.ts';
import type { Traffic } from './traffic.ts';

const TRIES = 24;
const TRY_MS = 5_000;

/**
 * Sends events until one of them has reached every socket: some subscriptions may still be on their way to the server.
 *
 * @throws if no event has reached every socket after TRIES rounds
 */
export async function reachAll(traffic: Traffic, audience: Audience): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const seq = await traffic.sendRound();
    const reached = await Promise.race([
      audience.reached(seq).then(() => true),
      delay(TRY_MS, false, { ref: false }),
    ]);
    if (reached) break;
    if (attempt === TRIES) {
      const { faults } = await audience.report();
      throw new Error(['some subscriptions get no events', ...faults].join('\n'));
    }
  }
  traffic.settle(audience.deliveries);
}

/** Sends events for the time of the flood, at its rate, and no more than the window holds at once. */
export async function flood(
  load: Load,
  traffic: Traffic,
  audience: Audience,
  signal: AbortSignal,
): Promise<void> {
  const { window, rate, floodSeconds } = load;
  const from = performance.now();
  const first = traffic.events;
  for (let ms = 0; ms < floodSeconds * 1000; ms = performance.now() - from) {
    signal.throwIfAborted();
    const underWay = (traffic.expected - audience.deliveries) / traffic.readers;
    const due = rate === 0 ? Infinity : (ms / 1000) * rate - (traffic.events - first);
    const room = Math.floor(Math.min(due, window - underWay));
    // Sends at least a quarter of the window at once: each `send` starts kcat anew.
    if (room >= (rate === 0 ? window / 4 : 1)) await traffic.send(room);
    else await delay(2);
  }
}
