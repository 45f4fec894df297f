import kafkajs, { type Kafka } from '#kafkajs';
import type { Log } from '../../../log.ts';
import type { KafkaConnection } from '../connection.ts';
import { registerCodecs } from './register-codecs.ts';
import { kafkaLogCreator, kafkaLogLevel } from './log.ts';
import { saslOptions } from './sasl.ts';
import { socketFactory } from './socket.ts';

/** Makes a new client each time: kafkajs keeps state per client, which a consumer built anew must not inherit. */
export type KafkaFactory = (retry?: { readonly retries: number }) => Kafka;

/**
 * A request is tried this often before kafkajs gives up: some 10 s in all. It can't be interrupted while it waits, so
 * this is also about how long a stop may take.
 */
const RETRY = { retries: 5, initialRetryTime: 300, maxRetryTime: 5_000 };

const CONNECTION_TIMEOUT_MS = 3_000;

/** @param isReached see kafkaLogCreator */
export function kafkaFactory(
  { brokers, clientId, credentials }: KafkaConnection,
  log: Log,
  isReached?: () => boolean,
): KafkaFactory {
  registerCodecs();
  const { tls, sasl } = credentials;
  const options = {
    clientId,
    brokers: [...brokers],
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    socketFactory: socketFactory(tls),
    logLevel: kafkaLogLevel(log),
    logCreator: kafkaLogCreator(log, isReached),
  };
  // kafkajs keeps state in the `sasl` object.
  return (retry) =>
    new kafkajs.Kafka({
      ...options,
      retry: { ...RETRY, ...retry },
      ...(sasl && { sasl: saslOptions(sasl) }),
    });
}
