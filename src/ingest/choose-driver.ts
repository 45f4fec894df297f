import type { Config } from '../config/settings.ts';
import type { Log } from '../log.ts';
import { kafkaConnection, type KafkaConnectionSettings } from './kafka/connection.ts';
import type { KafkaDriver } from './kafka/driver.ts';

export type DriverSettings = KafkaConnectionSettings &
  Pick<Config, 'KAFKA_DRIVER' | 'KAFKA_GROUP_PROTOCOL' | 'KAFKA_INSTANCE_ID'>;

/**
 * Loads only the chosen client, so that the other one takes no memory.
 *
 * @throws SluiceError BAD_SETTINGS
 */
export async function chooseDriver(settings: DriverSettings, log: Log): Promise<KafkaDriver> {
  const {
    KAFKA_DRIVER: driver,
    KAFKA_GROUP_PROTOCOL: groupProtocol,
    KAFKA_INSTANCE_ID: instanceId,
  } = settings;
  const connection = kafkaConnection(settings, log);
  log.info(
    { driver, groupProtocol, ...(instanceId !== undefined && { instanceId }) },
    'events come from Kafka',
  );
  if (driver === 'platformatic') {
    const { PlatformaticDriver } = await import('./kafka/platformatic/driver.ts');
    return new PlatformaticDriver(connection, { instanceId, groupProtocol, log });
  }
  const { KafkajsDriver } = await import('./kafka/kafkajs/driver.ts');
  return new KafkajsDriver(connection, log);
}
