import type { HistoryPosition, HistoryRead } from '../../../src/bus/history.ts';
import type { CommandConnection, ListeningConnection } from '../../../src/bus/redis/connection.ts';
import type { Publisher } from '../../../src/events/publisher.ts';
import type { KafkaDriver } from '../../../src/ingest/kafka/driver.ts';
import type { ClientOptions } from '../kafka/member.ts';
import type { Starts } from '../kafka/starting.ts';

/** A fault of the gateway, made by changing the inputs of its parts. */
export interface Defect {
  readonly commands?: (real: CommandConnection) => CommandConnection;
  readonly listening?: (real: ListeningConnection) => ListeningConnection;
  readonly publisher?: (real: Publisher, commands: CommandConnection) => Publisher;
  /** Changes each message before the hub gets it. */
  readonly read?: (payload: Buffer | string) => string;
  /** Changes each history that the hub reads. */
  readonly history?: (read: HistoryRead) => HistoryRead;
  /** Changes each position of a topic that the hub gets. */
  readonly position?: (position: HistoryPosition) => HistoryPosition;
  readonly starts?: () => Starts;
  readonly driver?: (real: KafkaDriver) => KafkaDriver;
  /** Changes each record before ingest gets it. */
  readonly received?: ClientOptions['received'];
}
