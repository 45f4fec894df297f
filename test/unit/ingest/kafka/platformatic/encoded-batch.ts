import {
  createRecordsBatch,
  crc32c,
  type CreateRecordsBatchOptions,
  type MessageRecord,
} from '@platformatic/kafka';

interface EncodeOptions extends Partial<CreateRecordsBatchOptions> {
  readonly firstOffset?: number;
  /** In place of those that the package writes. */
  readonly attributes?: number;
  readonly key?: Buffer;
  readonly headers?: Map<Buffer, Buffer>;
}

/** A record batch as a broker sends it. */
export function encodedBatch(values: readonly string[], options: EncodeOptions = {}): Buffer {
  const { firstOffset = 0, attributes, key, headers, ...others } = options;
  const messages = values.map((value) => ({
    topic: 't',
    timestamp: 1_000n,
    value: Buffer.from(value),
    key,
    headers,
  }));
  const bytes = Buffer.from(createRecordsBatch(messages as unknown as MessageRecord[], others).buffer);
  bytes.writeBigInt64BE(BigInt(firstOffset), 0);
  if (attributes !== undefined) bytes.writeInt16BE(attributes, 21);
  return withChecksum(bytes);
}

export function withChecksum(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)) >>> 0, 17);
  return bytes;
}
