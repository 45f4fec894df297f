import { ByteReader } from './byte-reader.ts';

/** The answer of a broker for one partition. */
export interface FetchedPartition {
  /** The topic's id as the protocol's package writes it. */
  readonly uuid: string;
  readonly partition: number;
  /** 0: none. */
  readonly errorCode: number;
  /** The offset after the last record that consumers may see. */
  readonly lastStableOffset: number;
  readonly aborted: readonly AbortedTransaction[];
  /** The node to fetch from in its place; -1: this one. */
  readonly preferredReplica: number;
  /**
   * The offset from which on the log differs from what was fetched before, if that is below the fetch's offset: the log has
   * lost its end, and may have another one. Undefined: it does not differ, or the fetch named no leader epoch.
   */
  readonly divergesAt?: number | undefined;
  /** Record batches, of which the last one may be cut off. */
  readonly records: Buffer;
}

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

export interface FetchResponse {
  readonly errorCode: number;
  readonly partitions: readonly FetchedPartition[];
}

/** Tag of a leader epoch, and where it ends. */
const DIVERGING_EPOCH = 0;

type Mutable = { -readonly [Field in keyof FetchedPartition]: FetchedPartition[Field] };

/**
 * Reads the answer to a fetch of version 13. The package's own reader misreads what follows a tagged field. It also decodes
 * all records at once, so one batch that can't be decoded fails the fetch of all partitions.
 */
export function fetchResponse(bytes: Buffer): FetchResponse {
  const reader = new ByteReader(bytes);
  reader.int32(); // how long the broker throttles
  const errorCode = reader.int16();
  reader.int32(); // of the fetch session, which is not used
  const topics = reader.array(() => {
    const uuid = uuidOf(reader.bytes(16));
    return reader.array<Mutable>(
      () => partitionOf(uuid, reader),
      (partition, tag, field) => {
        if (tag === DIVERGING_EPOCH) partition.divergesAt = Number(field.readBigInt64BE(4));
      },
    );
  });
  return { errorCode, partitions: topics.flat() };
}

function partitionOf(uuid: string, reader: ByteReader): FetchedPartition {
  const partition = reader.int32();
  const errorCode = reader.int16();
  reader.int64(); // the high watermark, open transactions among it
  const lastStableOffset = reader.int64();
  reader.int64(); // where the log begins
  const aborted = reader.array(() => ({ producerId: reader.bigInt64(), firstOffset: reader.int64() }));
  const preferredReplica = reader.int32();
  const records = reader.bytes(Math.max(0, reader.unsignedVarInt() - 1));
  return { uuid, partition, errorCode, lastStableOffset, aborted, preferredReplica, records };
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
