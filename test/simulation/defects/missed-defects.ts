import { replacing } from './changed-connection.ts';
import type { Defect } from './defect.ts';

/** Defects of how a pod reads again what it has missed. */
export const MISSED_DEFECTS: Readonly<Record<string, Defect>> = {
  'what is missed is not read, though it counts as read': {
    driver: (real) => replacing(real, { read: async () => undefined }),
  },
  'what is read again counts as published, whatever its leader epoch': {
    driver: (real) =>
      replacing(real, {
        read: (topic, ranges, take, signal) => {
          const epochs = new Map(ranges.map(({ partition, leaderEpoch }) => [partition, leaderEpoch]));
          return real.read(
            topic,
            ranges,
            (records) => take(records.map((one) => ({ ...one, epoch: epochs.get(one.partition) }))),
            signal,
          );
        },
      }),
  },
};
