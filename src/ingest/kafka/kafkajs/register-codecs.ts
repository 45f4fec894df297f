import { crc32c } from '@node-rs/crc32';
import kafkajs from '#kafkajs';
import { CODECS, FetchUnpacking } from '../codecs.ts';

/** The unpacking of each fetch, by kafkajs's decoder of its response, which may have batches of several partitions. */
const fetches = new WeakMap<object, FetchUnpacking>();

/** Lets kafkajs read record batches of all codecs that Kafka has, and verify their checksums. */
export function registerCodecs(): void {
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
