import kafkajs, { type Kafka, type SASLOptions } from '#kafkajs';
import { readSettingFile } from '../../../config/config.ts';
import type { Config } from '../../../config/settings.ts';
import type { Log } from '../../../log.ts';
import { registerCodecs } from './codecs.ts';
import { kafkaLogCreator, kafkaLogLevel } from './log.ts';

/** The settings for connecting to Kafka. */
export type KafkaSettings = Pick<
  Config,
  | 'KAFKA_BROKERS'
  | 'KAFKA_TLS'
  | 'KAFKA_CA'
  | 'KAFKA_SASL_MECHANISM'
  | 'KAFKA_SASL_USERNAME'
  | 'KAFKA_SASL_PASSWORD'
>;

/** Makes a new client each time: kafkajs keeps state per client, which a consumer built anew must not inherit. */
export type KafkaFactory = () => Kafka;

/**
 * A request is tried this often before kafkajs gives up: some 10 s in all. It can't be interrupted while it waits, so
 * this is also about how long a stop may take.
 */
const RETRY = { retries: 5, initialRetryTime: 300, maxRetryTime: 5_000 };

const CONNECTION_TIMEOUT_MS = 3_000;

/** @throws SluiceError BAD_SETTINGS if KAFKA_CA can't be read */
export function kafkaFactory(settings: KafkaSettings, log: Log): KafkaFactory {
  registerCodecs();
  const sasl = saslOf(settings);
  const options = {
    clientId: 'sluice',
    brokers: [...settings.KAFKA_BROKERS],
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    retry: RETRY,
    ssl: tlsOf(settings),
    ...(sasl && { sasl }),
    logLevel: kafkaLogLevel(log),
    logCreator: kafkaLogCreator(log),
  };
  return () => new kafkajs.Kafka(options);
}

function tlsOf({ KAFKA_TLS, KAFKA_CA }: KafkaSettings): boolean | { ca: string[] } {
  if (!KAFKA_TLS || KAFKA_CA === undefined) return KAFKA_TLS;
  return { ca: [readSettingFile('KAFKA_CA', KAFKA_CA)] };
}

function saslOf(settings: KafkaSettings): SASLOptions | undefined {
  const mechanism = settings.KAFKA_SASL_MECHANISM;
  if (mechanism === undefined) return undefined;
  const username = settings.KAFKA_SASL_USERNAME ?? '';
  const password = settings.KAFKA_SASL_PASSWORD ?? '';
  switch (mechanism) {
    case 'plain':
      return { mechanism, username, password };
    case 'scram-sha-256':
      return { mechanism, username, password };
    case 'scram-sha-512':
      return { mechanism, username, password };
  }
}
