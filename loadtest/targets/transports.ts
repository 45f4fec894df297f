import path from 'node:path';
import type { Transport } from '../report/report.ts';
import { sluice } from './sluice.ts';
import { stock, stockEnvironment } from './stock/stock-target.ts';
import type { Target } from './target.ts';

const over = (transport: Transport, target: Target): Target => ({
  ...target,
  load: (load) => ({ ...load, transport }),
});

const stockWith = (name: string, program: string): Target => ({
  name,
  program: [path.join(import.meta.dirname, 'stock', program)],
  environment: stockEnvironment,
});

/** The least bytes of a result that is compressed: for Sluice, and for ws. */
const COMPRESSING = { COMPRESSION_MIN_BYTES: '128', DEFLATE_THRESHOLD: '128' };

/** A target that compresses results, if it can, for clients that offer it. */
export const compressing = (target: Target): Target => ({
  ...target,
  environment: (wiring) => ({ ...target.environment(wiring), ...COMPRESSING }),
});

/** Each transport of Sluice, with the servers to compare. Multipart has no other server that works by itself. */
export const TRANSPORTS: readonly { readonly transport: Transport; readonly targets: readonly Target[] }[] = [
  { transport: 'graphql-transport-ws', targets: [sluice, { ...stock, name: 'graphql-ws' }] },
  {
    transport: 'graphql-transport-ws, compressed',
    targets: [sluice, { ...stock, name: 'graphql-ws' }].map((target) =>
      over('graphql-transport-ws, compressed', compressing(target)),
    ),
  },
  {
    transport: 'graphql-ws',
    targets: [sluice, stockWith('subscriptions-transport-ws', 'stock-legacy-main.js')].map((target) =>
      over('graphql-ws', target),
    ),
  },
  {
    transport: 'server-sent events',
    targets: [sluice, stockWith('graphql-sse', 'stock-sse-main.js')].map((target) =>
      over('server-sent events', target),
    ),
  },
  {
    transport: 'server-sent events, compressed',
    targets: [over('server-sent events, compressed', compressing(sluice))],
  },
  { transport: 'multipart', targets: [over('multipart', sluice)] },
];
