import { isUtf8 } from 'node:buffer';
import { DecodeError } from '../events/decode-error.ts';
import { MAX_DEPTH } from '../events/safe-keys.ts';

/** Lists, maps and objects of one event, as in JSON, and items that take no bytes. */
const MAX_PARTS = 50_000;

/** Characters of names of enum values, which a byte can stand for. */
const MAX_NAMES = 8_000_000;

/** Different keys of maps, as in JSON: each takes long to add to an object. */
const MAX_KEYS = 10_000;

/** Fields of all objects of one event: a message may be empty although its type has thousands, which are null then. */
const MAX_FIELDS = 200_000;

/** Buffer's own conversion of a text takes as long as reading this many characters here. */
const SHORT_TEXT = 16;

const TWO_32 = 4_294_967_296;
const REPLACEMENT = '\uFFFD';

/**
 * Reads the values of binary formats, whose payloads say of themselves how long they are. No length is believed beyond the
 * bytes that there are, and what takes more memory than bytes is counted.
 */
export class Cursor {
  readonly #bytes: Buffer;
  /** Bytes that have been read. */
  at: number;
  #end: number;
  #parts = 0;
  #fields = 0;
  readonly #keys = new Set<string>();
  #names = 0;
  #depth = 0;
  /** The halves of the last 64-bit value. */
  #low = 0;
  #high = 0;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.at = at;
    this.#end = bytes.length;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#end;
  }

  /** The bytes that have not been read. */
  rest(): Buffer {
    return this.#bytes.subarray(this.at, this.#end);
  }

  /** Counts a list, a map, an object, or an item without bytes. @throws DecodeError `too_large` */
  countPart(): void {
    this.#parts += 1;
    if (this.#parts > MAX_PARTS) {
      throw new DecodeError(
        'too_large',
        `expected an event of at most ${MAX_PARTS} lists and objects, got more`,
      );
    }
  }

  /** Counts an object with so many fields, whether they are written or not. @throws DecodeError `too_large` */
  countObject(fields: number): void {
    this.countPart();
    this.#fields += fields;
    if (this.#fields > MAX_FIELDS) {
      throw new DecodeError('too_large', `expected an event of at most ${MAX_FIELDS} fields, got more`);
    }
  }

  /** Counts the key of an entry of a map that becomes an object. @throws DecodeError `too_large` */
  countKey(key: string): void {
    this.countPart();
    this.#keys.add(key);
    if (this.#keys.size > MAX_KEYS) {
      throw new DecodeError('too_large', `expected an event of at most ${MAX_KEYS} different keys, got more`);
    }
  }

  /** Counts the name of an enum value. @throws DecodeError `too_large` */
  countName(name: string): void {
    this.#names += name.length;
    if (this.#names > MAX_NAMES) {
      throw new DecodeError(
        'too_large',
        `expected an event of at most ${MAX_NAMES} characters of enums, got more`,
      );
    }
  }

  /** Begins something nested. @throws DecodeError `too_deep` */
  enter(): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) {
      throw new DecodeError('too_deep', `expected at most ${MAX_DEPTH} levels of nesting, got more`);
    }
  }

  leave(): void {
    this.#depth -= 1;
  }

  /** Ends reading after so many bytes. @returns the end before, for `endAt` */
  limit(length: number): number {
    const end = this.#end;
    this.#end = this.#advance(length) + length;
    this.at -= length;
    return end;
  }

  endAt(end: number): void {
    this.#end = end;
  }

  byte(): number {
    return this.#bytes[this.#advance(1)] as number;
  }

  /** @param most bytes that it may have */
  bytes(length: number, most = Infinity): Buffer {
    if (length > most) throw malformed(`expected at most ${most} bytes, got ${length}`);
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** @throws DecodeError `invalid_utf8` */
  text(length: number): string {
    const start = this.#advance(length);
    const end = start + length;
    if (length <= SHORT_TEXT) {
      let text = '';
      let at = start;
      for (; at < end; at += 1) {
        const byte = this.#bytes[at] as number;
        if (byte > 0x7f) break;
        text += String.fromCharCode(byte);
      }
      if (at === end) return text;
    }
    const text = this.#bytes.toString('utf8', start, end);
    if (text.includes(REPLACEMENT) && !isUtf8(this.#bytes.subarray(start, end))) {
      throw new DecodeError('invalid_utf8', 'expected a text in UTF-8, got bytes that are not');
    }
    return text;
  }

  float(): number {
    return this.#bytes.readFloatLE(this.#advance(4));
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#advance(8));
  }

  /** 32 bits, as they are. */
  fixed32(): number {
    return this.#bytes.readUInt32LE(this.#advance(4));
  }

  signedFixed64(): number | bigint {
    this.#readFixed64();
    return this.#signed();
  }

  unsignedFixed64(): number | bigint {
    this.#readFixed64();
    return this.#unsigned();
  }

  /** A length, a tag or a number of 32 bits. @throws DecodeError `malformed` if it has more than 53 bits */
  varint(): number {
    const first = this.byte();
    if (first < 0x80) return first;
    this.at -= 1;
    const value = this.unsignedVarint();
    if (typeof value === 'bigint') throw malformed('expected a number below 2^53, got a larger one');
    return value;
  }

  /** The low 32 bits of a varint, with their sign. */
  varint32(): number {
    this.#readVarint();
    return this.#low | 0;
  }

  /** A bigint beyond 2^53. */
  unsignedVarint(): number | bigint {
    this.#readVarint();
    return this.#unsigned();
  }

  signedVarint(): number | bigint {
    this.#readVarint();
    return this.#signed();
  }

  /** Zigzag: 0, -1, 1, -2, … */
  zigzag(): number | bigint {
    const first = this.byte();
    if (first < 0x80) return (first >>> 1) ^ -(first & 1);
    this.at -= 1;
    this.#readVarint();
    const sign = -(this.#low & 1);
    const low = ((this.#low >>> 1) | (this.#high << 31)) ^ sign;
    this.#high = (this.#high >>> 1) ^ sign;
    this.#low = low;
    return this.#signed();
  }

  #readVarint(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.byte();
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) {
        this.#low = low;
        this.#high = high;
        return;
      }
    }
    throw malformed('expected a number of at most ten bytes, got a longer one');
  }

  #readFixed64(): void {
    const start = this.#advance(8);
    this.#low = this.#bytes.readInt32LE(start);
    this.#high = this.#bytes.readInt32LE(start + 4);
  }

  #signed(): number | bigint {
    const high = this.#high | 0;
    const number = high * TWO_32 + (this.#low >>> 0);
    return Number.isSafeInteger(number) ? number : (BigInt(high) << 32n) | BigInt(this.#low >>> 0);
  }

  #unsigned(): number | bigint {
    const high = this.#high >>> 0;
    const number = high * TWO_32 + (this.#low >>> 0);
    return Number.isSafeInteger(number) ? number : (BigInt(high) << 32n) | BigInt(this.#low >>> 0);
  }

  /** @returns where the bytes that are passed over begin */
  #advance(length: number): number {
    const start = this.at;
    if (!(length >= 0 && length <= this.#end - start)) {
      throw malformed(`expected ${length} bytes more, got ${this.#end - start}`);
    }
    this.at = start + length;
    return start;
  }
}

export function malformed(message: string): DecodeError {
  return new DecodeError('malformed', message);
}
