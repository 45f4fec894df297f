import assert from 'node:assert/strict';
import type {
  GroupMember,
  KafkaDriver,
  MemberOptions,
  PartitionPosition,
} from '../../../../src/ingest/kafka/driver.ts';
import { KafkaSource, type KafkaSourceOptions } from '../../../../src/ingest/kafka/source.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { roomForRecords, SOURCE_SETTINGS } from '../../../helpers/source-settings.ts';
import { readableLog, RecordingPublisher, topic, topics } from '../parts.ts';

/** A Kafka that assigns partitions and hands batches over when the test says so. */
export class FakeDriver implements KafkaDriver {
  positions: PartitionPosition[] = [];
  confirmedAt = Infinity;
  options: MemberOptions | undefined;

  missingTopics: KafkaDriver['missingTopics'] = async () => [];
  topics: KafkaDriver['topics'] = async () => [];
  forgetGroup = async () => true;
  describeGroup = async () => ({ hasMembers: false, texts: [] as string[] });
  deadLetterSink: KafkaDriver['deadLetterSink'] = () => assert.fail('no test has a dead-letter topic');
  isRetriable = () => true;
  read: KafkaDriver['read'] = () => assert.fail('no test has anything to be read again');

  member(options: MemberOptions): GroupMember {
    this.options = options;
    const confirmedAt = (): number => this.confirmedAt;
    return {
      get confirmedAt() {
        return confirmedAt();
      },
      run: () => new Promise<Error>(() => undefined),
      stop: async () => undefined,
      positions: () => this.positions,
    };
  }
}

/** A source of these topics, with all that it needs and the test does not name. */
export const kafkaSource = (names: readonly string[], options: Partial<KafkaSourceOptions> = {}) =>
  new KafkaSource({
    settings: SOURCE_SETTINGS,
    topics: topics(...names.map((name) => topic(name))),
    publisher: new RecordingPublisher(),
    metrics: new Metrics(),
    log: readableLog().log,
    records: roomForRecords(),
    broadcast: false,
    driver: new FakeDriver(),
    ...options,
  });
