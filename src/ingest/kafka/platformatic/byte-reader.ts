/** Reads the primitive types of Kafka's protocol. @throws RangeError at the end of the bytes */
export class ByteReader {
  position = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.position;
  }

  int8(): number {
    return this.#bytes.readInt8(this.#advance(1));
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#advance(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#advance(4));
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.#advance(4));
  }

  /** Exact below 2^53, as all offsets and times are. */
  int64(): number {
    return Number(this.bigInt64());
  }

  bigInt64(): bigint {
    return this.#bytes.readBigInt64BE(this.#advance(8));
  }

  unsignedVarInt(): number {
    let byte = this.#byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let factor = 0x80; ; factor *= 0x80) {
      byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  /** Zigzag: 0, -1, 1, -2, … */
  varInt(): number {
    const value = this.unsignedVarInt();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  bytes(length: number): Buffer {
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** @returns null for a length of -1 */
  varIntBytes(): Buffer | null {
    const length = this.varInt();
    return length < 0 ? null : this.bytes(length);
  }

  /** @returns the items of a compact array, each with the tagged fields that follow it; none for null */
  array<Item>(read: () => Item, tagged?: (item: Item, tag: number, field: Buffer) => void): Item[] {
    const result: Item[] = [];
    for (let left = this.unsignedVarInt() - 1; left > 0; left -= 1) {
      const item = read();
      result.push(item);
      this.#tags((tag, field) => tagged?.(item, tag, field));
    }
    return result;
  }

  /** Passes over fields that this gateway does not know. */
  skipTags(): void {
    this.#tags(() => undefined);
  }

  #tags(take: (tag: number, field: Buffer) => void): void {
    for (let left = this.unsignedVarInt(); left > 0; left -= 1) {
      const tag = this.unsignedVarInt();
      take(tag, this.bytes(this.unsignedVarInt()));
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.position];
    if (byte === undefined) throw this.#ended(1);
    this.position += 1;
    return byte;
  }

  /** @returns the position before */
  #advance(length: number): number {
    const start = this.position;
    if (length < 0 || length > this.remaining) throw this.#ended(length);
    this.position += length;
    return start;
  }

  #ended(length: number): RangeError {
    return new RangeError(`expected ${length} more bytes, got ${this.remaining}`);
  }
}
