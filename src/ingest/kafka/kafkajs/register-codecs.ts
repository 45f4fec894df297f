import { crc32c } from '@node-rs/crc32';
import kafkajs from '#kafkajs';
import { decompressGzip, decompressLz4, decompressSnappy, decompressZstd } from '../codecs.ts';

/** Lets kafkajs read record batches of all codecs that Kafka has, and verify their checksums. */
export function registerCodecs(): void {
  const { CompressionCodecs, CompressionTypes, RecordBatchChecksum } = kafkajs;
  CompressionCodecs[CompressionTypes.GZIP] = codec(decompressGzip);
  CompressionCodecs[CompressionTypes.Snappy] = codec(decompressSnappy);
  CompressionCodecs[CompressionTypes.LZ4] = codec(decompressLz4);
  CompressionCodecs[CompressionTypes.ZSTD] = codec(decompressZstd);
  RecordBatchChecksum.crc32C = crc32c;
}

/** As kafkajs wants it. The gateway compresses no records. */
function codec(decompress: (bytes: Buffer) => Buffer | Promise<Buffer>) {
  const made = {
    decompress: async (bytes: Buffer) => decompress(bytes),
    compress: () => Promise.reject(new Error('the gateway compresses no records')),
  };
  return () => made;
}
