import kafkajs, { type Kafka, type KafkaConfig, type SASLOptions } from '#kafkajs';
import type { Log } from '../../../log.ts';
import type { KafkaConnection } from '../connection.ts';
import { kafkaLogCreator, kafkaLogLevel } from './log.ts';
import { socketFactory } from './socket.ts';
import type { KafkaCredentials, PasswordCredentials } from '../credentials/credentials.ts';
import { oauthBearer } from './oauth-bearer.ts';
import { crc32c } from '@node-rs/crc32';
import { CODECS, FetchUnpacking } from '../codecs.ts';

/** The unpacking of each fetch, by kafkajs's decoder of its response, which may have batches of several partitions. */
const fetches = new WeakMap<object, FetchUnpacking>();

/** Lets kafkajs read record batches of all codecs that Kafka has, and verify their checksums. */
function registerCodecs(): void {
  const { CompressionCodecs, CompressionTypes, RecordBatchChecksum } = kafkajs;
  const { GZIP, Snappy, LZ4, ZSTD } = CompressionTypes;
  for (const type of [GZIP, Snappy, LZ4, ZSTD] as const) {
    const made = {
      decompress: (bytes: Buffer, records?: number, fetch?: object) => unpack(type, bytes, records, fetch),
      compress: () => Promise.reject(new Error('the gateway compresses no records')),
    };
    CompressionCodecs[type] = () => made;
  }
  RecordBatchChecksum.crc32C = crc32c;
}

/** @param fetch undefined for messages of formats before record batches, which do not say how many they are */
async function unpack(type: number, bytes: Buffer, records = 0, fetch: object = {}): Promise<Buffer> {
  const codec = CODECS[type];
  if (codec === undefined) throw new Error(`expected a codec that Kafka has, got number ${type}`);
  const unpacking = fetches.get(fetch) ?? new FetchUnpacking();
  fetches.set(fetch, unpacking);
  const unpacked = await unpacking.unpack(codec, bytes, records);
  // Fails like a batch that is cut off, which kafkajs fetches again.
  if (unpacked === undefined)
    throw Object.assign(new Error('no room'), { name: 'KafkaJSPartialMessageError' });
  return unpacked;
}

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

/** Returns a new object for each client, which keeps state in it. */
function saslOptions(sasl: NonNullable<KafkaCredentials['sasl']>): NonNullable<KafkaConfig['sasl']> {
  return sasl.mechanism === 'oauthbearer' ? oauthBearer(sasl) : withPassword(sasl);
}

/** kafkajs reads both during each authentication, and so the files that they may come from. */
function withPassword({ mechanism, username, password }: PasswordCredentials): SASLOptions {
  const options = {
    get username() {
      return username();
    },
    get password() {
      return password();
    },
  };
  return Object.assign(options, { mechanism });
}
