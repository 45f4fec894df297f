import type { CommandConnection } from '../../../src/bus/redis/connection.ts';
import { changed, replacing } from './changed-connection.ts';
import type { Defect } from './defect.ts';

/** Defects in how a pod reads missed events again. */
export const MISSED_DEFECTS: Readonly<Record<string, Defect>> = {
  'what is missed is not read, though it counts as read': {
    driver: (real) => replacing(real, { read: async () => undefined }),
  },
  'what is read again counts as published, whatever its leader epoch': {
    commands: (real) =>
      saying(real, (partition) => [...partition.slice(0, 5), null, ...partition.slice(6, 8)]),
    driver: (real) =>
      replacing(real, {
        read: (topic, ranges, take, signal) =>
          real.read(
            topic,
            ranges,
            (records) => take(records.map((one) => ({ ...one, epoch: undefined }))),
            signal,
          ),
      }),
  },
  'pods do not say where the last leader epoch begins': {
    commands: (real) => saying(real, (partition) => partition.slice(0, 8)),
  },
};

/** The beginning of the text by which pods tell how far they have published. */
const POSITIONS = '[[';

/** @param said changes the text on each partition; `writePositions` describes its form */
function saying(
  real: CommandConnection,
  said: (partition: readonly unknown[]) => readonly unknown[],
): CommandConnection {
  return changed(real, {
    command: (command) => {
      const [name, channel = '', payload = ''] = command;
      const at = payload.indexOf(POSITIONS);
      if (name !== 'PUBLISH' || at < 0 || !/@(pod:|positions$)/.test(channel)) return command;
      const topics = JSON.parse(payload.slice(at)) as [string, number, unknown[][]][];
      const changedTopics = topics.map(([topic, count, partitions]) => [topic, count, partitions.map(said)]);
      return [name, channel, payload.slice(0, at) + JSON.stringify(changedTopics)];
    },
  });
}
