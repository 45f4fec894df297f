import { getHeapStatistics } from 'node:v8';
import type { Metrics } from '../metrics.ts';
import { ByteBudget, ownBytes, type ByteSource } from '../support/byte-budget.ts';

/** The budget's part of the heap limit: the rest is for lasting objects, and for objects made from the bytes. */
const PART_OF_HEAP = 1 / 4;

/** Each source's minimum, and the most for one owner, as parts of the budget. Any source may take the rest. */
const SOURCES = {
  /** Messages of the bus that wait for their turn. */
  backlog: { least: 1 / 16, mostOfOwner: 1 },
  /** Messages in the intervals of throttles. */
  throttles: { least: 1 / 16, mostOfOwner: 1 },
  /** Answers of back ends, until they are parsed. An owner is a back end. */
  answers: { least: 3 / 32, mostOfOwner: 1 / 16 },
  /** Messages of WebSockets that have come only in part. */
  messages: { least: 1 / 32, mostOfOwner: 1 },
  /** Bodies of requests, and their values while operations are executed. An owner is a client, or a connection. */
  bodies: { least: 1 / 8, mostOfOwner: 1 / 16 },
  /** Histories that are read and recorded for subscribers who resume. An owner is a client, or a connection. */
  history: { least: 3 / 16, mostOfOwner: 1 / 8 },
  /** Records of Kafka: fetched, decoded and to be published. The owner is the consumer. */
  records: { least: 1 / 4, mostOfOwner: 1 / 4 },
  /** Histories that are read after a lost connection to Redis. An owner is a topic. */
  missed: { least: 1 / 8, mostOfOwner: 1 / 8 },
};

/** Bytes that the documents of subscriptions may take, outside the budget: each is in memory while it is in use. */
export function bytesOfDocuments(): number {
  return Math.floor(getHeapStatistics().heap_size_limit / 4);
}

/** Bytes that the last events of all topics may take, outside the budget: for the consumed and for the arrived ones each. */
export function bytesOfRecentEvents(): number {
  return Math.floor(getHeapStatistics().heap_size_limit / 64);
}

/** A part of the heap limit, outside the budget: responses that clients don't read must not keep others from the budget. */
const PART_OF_RESPONSES = 1 / 8;

export type Budget = Readonly<Record<keyof typeof SOURCES | 'responses', ByteSource>>;

/** The process's one budget of bytes. */
export function createBudget(metrics: Metrics, heapLimit = getHeapStatistics().heap_size_limit): Budget {
  const total = Math.floor(heapLimit * PART_OF_HEAP);
  const budget = new ByteBudget(total);
  const entries = Object.entries(SOURCES).map(([name, { least, mostOfOwner }]): [string, ByteSource] => {
    const source = budget.source({
      least: Math.floor(total * least),
      mostOfOwner: Math.floor(total * mostOfOwner),
    });
    return [name, source];
  });
  entries.push(['responses', ownBytes(Math.floor(heapLimit * PART_OF_RESPONSES))]);
  metrics.onCollect(metrics.reservedBytes, () => {
    for (const [source, { held }] of entries) metrics.reservedBytes.set({ source }, held);
  });
  metrics.onCollect(metrics.reservationsWaiting, () => {
    for (const [source, { waiting }] of entries) metrics.reservationsWaiting.set({ source }, waiting);
  });
  return Object.fromEntries(entries) as unknown as Budget;
}
