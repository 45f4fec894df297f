import type {
  DeadLetterKafka,
  PartitionReader,
  ReplaySink,
} from '../../../../src/ingest/dead-letters/kafka.ts';
import { letterOf, type Letter, type ReplayMessage } from '../../../../src/ingest/dead-letters/letter.ts';
import type { KafkaRecord } from '../../../../src/ingest/record.ts';
import { record } from '../parts.ts';

interface LetterParts extends Partial<Omit<KafkaRecord, 'value'>> {
  /** `<topic>/<partition>/<offset>` of the message. */
  readonly origin?: string;
  readonly reason?: string;
  /** ms, of the message. */
  readonly time?: number;
  readonly value?: string | null;
}

/** A record as the gateway writes it to the dead-letter topic. */
export function letterRecord(parts: LetterParts = {}): KafkaRecord {
  const {
    origin = 'bids/2/7',
    reason = 'not_json',
    time = 1_000,
    value = 'not json',
    headers,
    ...rest
  } = parts;
  const [topic = '', partition = '', offset = ''] = origin.split('/');
  const all = {
    ...headers,
    'sluice-topic': Buffer.from(topic),
    'sluice-partition': Buffer.from(partition),
    'sluice-offset': Buffer.from(offset),
    'sluice-timestamp': Buffer.from(String(time)),
    'sluice-reason': Buffer.from(reason),
  };
  return record(value, { topic: 'dead', partition: 0, offset: 17, ...rest, headers: all });
}

export function letter(parts: LetterParts = {}): Letter {
  const result = letterOf(letterRecord(parts));
  if (result === undefined) throw new Error('expected a dead letter, got another record');
  return result;
}

/** Gives these fetches, then the end. */
export function reader(partition: number, ...fetches: readonly (readonly KafkaRecord[])[]): PartitionReader {
  const waiting = [...fetches];
  return { partition, next: () => Promise.resolve(waiting.shift()) };
}

/** Keeps what it is sent, batch by batch; fails as soon as `failing` says so. */
export class RecordingSink implements ReplaySink {
  readonly batches: (readonly ReplayMessage[])[] = [];
  isStopped = false;
  failing: (messages: readonly ReplayMessage[]) => boolean = () => false;

  send(messages: readonly ReplayMessage[]): Promise<void> {
    if (this.failing(messages)) return Promise.reject(new Error('the broker is away'));
    this.batches.push(messages);
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.isStopped = true;
    return Promise.resolve();
  }
}

/** A dead-letter topic `dead` that holds what the readers give. */
export class FakeDeadLetterKafka implements DeadLetterKafka {
  readonly sink = new RecordingSink();
  readonly opened: [topic: string, from: ReadonlyMap<number, number>][] = [];
  isClosed = false;
  readonly #partitions: readonly PartitionReader[];

  constructor(...partitions: readonly PartitionReader[]) {
    this.#partitions = partitions;
  }

  missingTopics(wanted: readonly string[]): Promise<readonly string[]> {
    return Promise.resolve(wanted.filter((topic) => topic !== 'dead'));
  }

  open(topic: string, from: ReadonlyMap<number, number>) {
    this.opened.push([topic, from]);
    const close = async () => void (this.isClosed = true);
    return Promise.resolve({ partitions: this.#partitions, close });
  }

  replaySink(): ReplaySink {
    return this.sink;
  }
}
