import { sendJson } from '../respond.ts';
import type { Handle } from '../router.ts';

/** What `/debug/pressure` shows; null if pressure is not measured. */
export interface PressureInspectable {
  inspect(): unknown;
}

/** `/debug/pressure`: how much of its limits this process uses, and what it does about it. */
export function pressureState(pressure: PressureInspectable): Handle {
  return (_request, response) =>
    sendJson(response, 200, { pressure: pressure.inspect() }, { 'cache-control': 'no-store' });
}
