import { getHeapStatistics } from 'node:v8';
import type { Metrics } from '../metrics.ts';
import { ByteBudget, type ByteSource } from '../support/byte-budget.ts';

/** Of the process's heap limit: the rest is for what lasts, and for what becomes of the bytes. */
const PART_OF_HEAP = 1 / 4;

/** Each source's least, as a part of the budget, and what one owner may hold of it. The rest goes to whoever needs it. */
const SOURCES = {
  /** Bodies of requests. An owner is a connection. */
  bodies: { least: 1 / 8, mostOfOwner: 1 / 16 },
  /** Histories that are read and recorded for subscribers who resume. An owner is a connection. */
  history: { least: 1 / 4, mostOfOwner: 1 / 8 },
  /** Histories that are read after a lost connection to Redis. An owner is a topic. */
  missed: { least: 1 / 8, mostOfOwner: 1 / 8 },
};

export type Budget = Readonly<Record<keyof typeof SOURCES, ByteSource>>;

/** The process's one budget of bytes. */
export function createBudget(metrics: Metrics, heapLimit = getHeapStatistics().heap_size_limit): Budget {
  const total = Math.floor(heapLimit * PART_OF_HEAP);
  const budget = new ByteBudget(total);
  const entries = Object.entries(SOURCES).map(([name, { least, mostOfOwner }]) => {
    const source = budget.source({
      least: Math.floor(total * least),
      mostOfOwner: Math.floor(total * mostOfOwner),
    });
    return [name, source] as const;
  });
  metrics.onCollect(metrics.reservedBytes, () => {
    for (const [source, { held }] of entries) metrics.reservedBytes.set({ source }, held);
  });
  metrics.onCollect(metrics.reservationsWaiting, () => {
    for (const [source, { waiting }] of entries) metrics.reservationsWaiting.set({ source }, waiting);
  });
  return Object.fromEntries(entries) as unknown as Budget;
}
