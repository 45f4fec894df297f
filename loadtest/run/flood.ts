import { setTimeout as delay } from 'node:timers/promises';
import type { Audience } from '../clients/audience.ts';
import type { Load } from '../report/report.ts';
import type { Traffic } from './traffic.ts';

const TRIES = 24;
const TRY_MS = 5_000;

/**
 * A subscription may still be on its way to the server: events go out until one has reached every socket.
 *
 * @throws if none does
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

/** Sends events so that the window is full, or at the rate that was asked for, for the time of the flood. */
export async function flood(
  load: Load,
  traffic: Traffic,
  audience: Audience,
  signal: AbortSignal,
): Promise<void> {
  const { window, rate, floodSeconds } = load;
  const from = performance.now();
  const first = traffic.events;
  const perEvent = load.sockets / traffic.channels;
  for (let ms = 0; ms < floodSeconds * 1000; ms = performance.now() - from) {
    signal.throwIfAborted();
    const underWay = (traffic.expected - audience.deliveries) / perEvent;
    const due = rate === 0 ? Infinity : (ms / 1000) * rate - (traffic.events - first);
    const room = Math.floor(Math.min(due, window - underWay));
    // In bursts of a quarter of the window: kcat starts anew for each.
    if (room >= (rate === 0 ? window / 4 : 1)) await traffic.send(room);
    else await delay(2);
  }
}
