import { shortened } from '../../support/shortened.ts';
import { Table } from '../../support/table.ts';
import type { KafkaSourceState, PartitionState } from './state.ts';

/** The length to which reasons from brokers and decoders are cut. */
const MAX_REASON = 500;

/** The partitions that this process consumes as a table. */
export function partitionTable(source: { inspect(): KafkaSourceState } | undefined): Table<PartitionState> {
  const partitions = (): readonly PartitionState[] => source?.inspect().partitions ?? [];
  return new Table<PartitionState>({
    size: () => partitions().length,
    items: partitions,
    columns: {
      lag: ({ lag }) => lag,
      lagSeconds: ({ lagSeconds }) => lagSeconds,
      topic: ({ topic }) => topic,
      partition: ({ partition }) => partition,
      position: ({ position }) => position,
      highWatermark: ({ highWatermark }) => highWatermark,
      state: ({ state }) => state,
    },
    text: ({ topic, partition, state, reason }) => `${topic}\n${partition}\n${state}\n${reason ?? ''}`,
    row: ({ topic, partition, position, highWatermark, lag, lagSeconds, state, reason }) => ({
      topic,
      partition,
      position,
      highWatermark: highWatermark ?? null,
      lag: lag ?? null,
      lagSeconds: lagSeconds ?? null,
      state,
      reason: reason === undefined ? null : shortened(reason, MAX_REASON),
    }),
  });
}
