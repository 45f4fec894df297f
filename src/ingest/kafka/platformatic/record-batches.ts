import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32c } from '@node-rs/crc32';
import { logEpoch } from '../../../events/log-position.ts';
import type { KafkaRecord, RawHeaders } from '../../record.ts';
import { CODECS, FetchUnpacking, RECORDS_PER_TURN } from '../codecs.ts';
import type { BadBatch } from '../driver.ts';
import { ByteReader } from './byte-reader.ts';
import type { AbortedTransaction, FetchedPartition } from './fetch-response.ts';

/** The records that were fetched of a partition, as far as they can be decoded. */
export interface DecodedRecords {
  readonly records: readonly KafkaRecord[];
  /** The offset after all that is decoded, transactions' markers and aborted records included. */
  readonly next: number;
  /** The leader epoch of the record before `next`. Undefined: not known. */
  readonly leaderEpoch: number | undefined;
  /** The bad batch at `next`, if there is one. */
  readonly bad: BadBatch | undefined;
}

interface Origin extends Pick<KafkaRecord, 'topic' | 'topicId' | 'partition'> {
  /** How often the position was reset: see PositionText. */
  readonly resets: number;
}

/*
 *   first offset   length   leader epoch   magic   checksum   attributes   last offset   times   producer   …   records
 *   0              8        12             16      17         21           23 (delta)    27, 35  43             61
 *                           └──────────────── length ────────────────────────────────────────────────────────────────┘
 *                                                             └──────── what the checksum is of ───────────────────────┘
 */
const LENGTH_END = 12;
const CHECKED_FROM = 21;

const FORMAT = 2;
const CODEC = 0b111;
const BROKER_TIME = 1 << 3;
const TRANSACTIONAL = 1 << 4;
const CONTROL = 1 << 5;

/** Type of a transaction's marker. */
const ABORT = 0;

/**
 * @param from the first offset that is wanted: a batch may hold earlier ones, too. A broker sends at least one whole batch,
 *   or an error if it finds its log damaged
 */
export async function decodeRecords(
  origin: Origin,
  from: number,
  { errorCode, records: bytes, aborted }: Pick<FetchedPartition, 'errorCode' | 'records' | 'aborted'>,
): Promise<DecodedRecords> {
  if (errorCode !== 0) return unreadable(from, `the broker can’t read it, error ${errorCode} of Kafka`);
  const records: KafkaRecord[] = [];
  const transactions = new AbortedTransactions(aborted);
  const unpacking = new FetchUnpacking();
  let next = from;
  let leaderEpoch: number | undefined;
  for (let at = 0; at + LENGTH_END <= bytes.length;) {
    const end = at + LENGTH_END + bytes.readInt32BE(at + 8);
    if (end > bytes.length || end <= at + LENGTH_END) break;
    const batch = bytes.subarray(at, end);
    const firstOffset = Number(batch.readBigInt64BE(0));
    try {
      const decoded = await decodeBatch(origin, from, batch, transactions, unpacking, records);
      if (decoded === undefined) break;
      next = Math.max(next, decoded.lastOffset + 1);
      leaderEpoch = decoded.leaderEpoch;
    } catch (error) {
      // Nothing of the batch itself is handed over.
      while ((records.at(-1)?.offset ?? -1) >= firstOffset) records.pop();
      const lastOffset = batch.length >= 27 ? firstOffset + batch.readInt32BE(23) : firstOffset;
      return {
        records,
        next,
        leaderEpoch,
        bad: { firstOffset: Math.max(firstOffset, from), lastOffset, error: error as Error },
      };
    }
    at = end;
  }
  // Otherwise it would be fetched again at once, and for ever.
  if (next === from && bytes.length > 0)
    return unreadable(from, `got ${bytes.length} bytes without a whole one from there on`);
  return { records, next, leaderEpoch, bad: undefined };
}

function unreadable(from: number, came: string): DecodedRecords {
  const error = new Error(`expected a record batch with the offset ${from}: ${came}`);
  return {
    records: [],
    next: from,
    leaderEpoch: undefined,
    bad: { firstOffset: from, lastOffset: undefined, error },
  };
}

/**
 * Adds the batch's records to `into`.
 *
 * @returns undefined if there is no room to unpack the batch beside those before it
 * @throws Error if it can't be decoded
 */
async function decodeBatch(
  { topic, topicId, partition, resets }: Origin,
  from: number,
  batch: Buffer,
  transactions: AbortedTransactions,
  unpacking: FetchUnpacking,
  into: KafkaRecord[],
): Promise<{ lastOffset: number; leaderEpoch: number | undefined } | undefined> {
  const head = new ByteReader(batch);
  const firstOffset = head.int64();
  head.int32();
  const given = head.int32();
  const leaderEpoch = given < 0 ? undefined : given;
  const epoch = logEpoch(leaderEpoch, resets);
  const magic = head.int8();
  if (magic !== FORMAT) throw new Error(`expected a record batch of format ${FORMAT}, got one of ${magic}`);
  const checksum = head.uint32();
  const actual = crc32c(batch.subarray(CHECKED_FROM));
  if (actual !== checksum)
    throw new Error(`expected a record batch with the checksum ${checksum}, got ${actual}`);
  const attributes = head.int16();
  const lastOffset = firstOffset + head.int32();
  const firstTimestamp = head.int64();
  const maxTimestamp = head.int64();
  const producerId = head.bigInt64();
  head.int16();
  head.int32();
  const count = head.int32();
  const isControl = (attributes & CONTROL) !== 0;
  const type = attributes & CODEC;
  if (type >= CODECS.length) throw new Error(`expected a codec that Kafka has, got number ${type}`);
  transactions.reach(lastOffset);
  if (!isControl && (attributes & TRANSACTIONAL) !== 0 && transactions.isAborted(producerId))
    return { lastOffset, leaderEpoch };
  const codec = CODECS[type];
  const bytes = head.bytes(head.remaining);
  const unpacked = codec === undefined ? bytes : await unpacking.unpack(codec, bytes, count);
  if (unpacked === undefined) return undefined;
  const reader = new ByteReader(unpacked);
  for (let left = count; left > 0; left -= 1) {
    if (left % RECORDS_PER_TURN === 0) await nextTurn();
    const length = reader.varInt();
    const end = reader.position + length;
    reader.int8(); // attributes, which no record has
    const timestampDelta = reader.varInt();
    const offset = firstOffset + reader.varInt();
    const key = reader.varIntBytes();
    const value = reader.varIntBytes();
    const headers = headersOf(reader);
    if (reader.position !== end)
      throw new RangeError(`expected a record of ${length} bytes, got another length`);
    if (isControl) {
      if (key !== null && key.length >= 4 && key.readInt16BE(2) === ABORT) transactions.end(producerId);
      continue;
    }
    if (offset < from) continue;
    const timestamp = (attributes & BROKER_TIME) !== 0 ? maxTimestamp : firstTimestamp + timestampDelta;
    into.push({ topic, topicId, partition, offset, epoch, timestamp, key, value, headers });
  }
  return { lastOffset, leaderEpoch };
}

function headersOf(reader: ByteReader): RawHeaders | undefined {
  let left = reader.varInt();
  if (left < 0) throw new RangeError(`expected a number of headers, got ${left}`);
  if (left === 0) return undefined;
  // A producer may call a header `__proto__`.
  const headers = Object.create(null) as Record<string, Buffer | Buffer[] | undefined>;
  for (; left > 0; left -= 1) {
    const name = String(reader.varIntBytes() ?? '');
    const value = reader.varIntBytes() ?? undefined;
    const present = headers[name];
    if (present === undefined) headers[name] = value;
    else if (value === undefined) continue;
    // In place: a record may have so many of one name that a copy for each would take minutes.
    else if (Array.isArray(present)) present.push(value);
    else headers[name] = [present, value];
  }
  return headers;
}

/** Tracks which producers are in an aborted transaction at the batch that is being decoded. */
class AbortedTransactions {
  readonly #left: AbortedTransaction[];
  readonly #open = new Set<bigint>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#left = aborted.toSorted((one, other) => one.firstOffset - other.firstOffset);
  }

  reach(offset: number): void {
    for (let [first] = this.#left; first !== undefined && first.firstOffset <= offset; [first] = this.#left) {
      this.#open.add(first.producerId);
      this.#left.shift();
    }
  }

  isAborted(producerId: bigint): boolean {
    return this.#open.has(producerId);
  }

  end(producerId: bigint): void {
    this.#open.delete(producerId);
  }
}
