import type { Metrics } from '../../metrics.ts';
import type { KafkaSourceState, PartitionState } from './state.ts';

interface Source {
  inspect(): KafkaSourceState;
}

/** From now on, metrics show the present state of the source when they are collected. */
export function measureConsumption(source: Source, topics: () => readonly string[], metrics: Metrics): void {
  const { kafkaConnected, partitionsAssigned, kafkaLag, kafkaLagSeconds } = metrics;
  const byTopic = (of: (partition: PartitionState) => number | undefined): [string, number[]][] => {
    const { partitions } = source.inspect();
    return topics().map((name) => [
      name,
      partitions.filter(({ topic }) => topic === name).map((partition) => of(partition) ?? 0),
    ]);
  };
  metrics.onCollect(kafkaConnected, () => kafkaConnected.set(source.inspect().connected ? 1 : 0));
  metrics.onCollect(partitionsAssigned, () => partitionsAssigned.set(source.inspect().partitions.length));
  metrics.onCollect(kafkaLag, () => {
    for (const [topic, lags] of byTopic(({ lag }) => lag)) {
      kafkaLag.set(
        { topic },
        lags.reduce((sum, lag) => sum + lag, 0),
      );
    }
  });
  metrics.onCollect(kafkaLagSeconds, () => {
    for (const [topic, ages] of byTopic(({ lagSeconds }) => lagSeconds)) {
      kafkaLagSeconds.set({ topic }, Math.max(0, ...ages));
    }
  });
}
