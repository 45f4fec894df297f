import { connect } from 'node:net';
import { once } from 'node:events';
import type { GatewayProcess } from '../helpers/gateway.ts';
import type { RawSocket } from '../helpers/raw-socket.ts';
import type { Scope } from '../helpers/scope.ts';

/** How often requests are written: ms. */
const INTERVAL_MS = 10;

/**
 * Posts events at a rate, over one connection and without waiting for answers.
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
  const socket = connect(gateway.port, '127.0.0.1');
  scope.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.resume();
  const sentAt = new Map<number, number>();
  const began = performance.now();
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    const timer = setInterval(() => {
      const due = Math.min(count, Math.floor(((performance.now() - began) * perSecond) / 1_000));
      let requests = '';
      while (sentAt.size < due) {
        const n = sentAt.size + 1;
        const body = JSON.stringify(eventOf(n));
        const length = Buffer.byteLength(body);
        requests += `POST /events/${topic} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;
        sentAt.set(n, performance.now());
      }
      if (requests !== '') socket.write(requests);
      if (sentAt.size < count) return;
      clearInterval(timer);
      resolve();
    }, INTERVAL_MS);
  });
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
