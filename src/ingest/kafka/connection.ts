import type { Config } from '../../config/settings.ts';
import type { Log } from '../../log.ts';
import type { KafkaCredentials } from './credentials/credentials.ts';
import { kafkaCredentials, type CredentialsSettings } from './credentials/from-settings.ts';

export type KafkaConnectionSettings = CredentialsSettings & Pick<Config, 'KAFKA_BROKERS'>;

/** How a driver reaches brokers. */
export interface KafkaConnection {
  /** `host:port` */
  readonly brokers: readonly string[];
  readonly credentials: KafkaCredentials;
}

/** @throws SluiceError BAD_SETTINGS if a file is not what it must be */
export function kafkaConnection(settings: KafkaConnectionSettings, log: Log): KafkaConnection {
  return { brokers: settings.KAFKA_BROKERS, credentials: kafkaCredentials({ settings, log, now: Date.now }) };
}
