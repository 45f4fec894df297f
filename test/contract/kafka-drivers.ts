import {
  kafkaConnection,
  type KafkaConnection,
  type KafkaConnectionSettings,
} from '../../src/ingest/kafka/connection.ts';
import type { KafkaDriver } from '../../src/ingest/kafka/driver.ts';
import { KafkajsDriver } from '../../src/ingest/kafka/kafkajs/driver.ts';
import { PlatformaticDriver } from '../../src/ingest/kafka/platformatic/driver.ts';
import { createLog } from '../../src/log.ts';
import { PLAIN_KAFKA } from '../helpers/source-settings.ts';

export interface DriverMaker {
  readonly name: string;
  make(brokers: readonly string[], settings?: Partial<KafkaConnectionSettings>): KafkaDriver;
}

const log = createLog('silent');

export const platformatic = (groupProtocol: 'classic' | 'consumer', instanceId?: string): DriverMaker =>
  maker(
    `platformatic (${groupProtocol})`,
    (connection) => new PlatformaticDriver(connection, { instanceId, groupProtocol, log }),
  );

/** The drivers for real brokers. */
export const DRIVERS: readonly DriverMaker[] = [
  maker('kafkajs', (connection) => new KafkajsDriver(connection, log)),
  platformatic('classic'),
  platformatic('consumer'),
];

function maker(name: string, make: (connection: KafkaConnection) => KafkaDriver): DriverMaker {
  return {
    name,
    make: (brokers, settings = {}) =>
      make(kafkaConnection({ ...PLAIN_KAFKA, KAFKA_BROKERS: brokers, ...settings }, log)),
  };
}
