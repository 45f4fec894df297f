import type { Config } from '../../config/settings.ts';
import type { Log } from '../../log.ts';
import type { KafkaCredentials } from './credentials/credentials.ts';
import { kafkaCredentials, type CredentialsSettings } from './credentials/from-settings.ts';

export type KafkaConnectionSettings = CredentialsSettings &
  Pick<Config, 'KAFKA_BROKERS' | 'KAFKA_CLIENT_ID' | 'KAFKA_RACK'>;

/** How a driver reaches brokers. */
export interface KafkaConnection {
  /** `host:port` */
  readonly brokers: readonly string[];
  /** Identifies the pod to brokers. */
  readonly clientId: string;
  /** The pod's rack, as `broker.rack` names it; undefined: the pod asks leaders, wherever they are. */
  readonly rack: string | undefined;
  readonly credentials: KafkaCredentials;
}

/** @throws SluiceError BAD_SETTINGS if a file is not what it must be, or MISSING_PACKAGE */
export function kafkaConnection(settings: KafkaConnectionSettings, log: Log): KafkaConnection {
  return {
    brokers: settings.KAFKA_BROKERS,
    clientId: settings.KAFKA_CLIENT_ID,
    rack: settings.KAFKA_RACK,
    credentials: kafkaCredentials({ settings, log, now: Date.now }),
  };
}
