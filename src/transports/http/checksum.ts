import { crc32 } from 'node:zlib';

/**
 * CRC-32, as gzip has it, over parts that were summed up by themselves. A part's sum is a polynomial, and what has come
 * before it moves up by the part's length: it is multiplied by x^(8 · length) modulo the polynomial of the CRC. This power is
 * the same for all responses that get the part. (`crc32_combine_op` in zlib does the same; Node.js does not offer it.)
 */
export interface Checksum {
  readonly crc: number;
  /** Bytes of the part. */
  readonly length: number;
  /** x^(8 · length), as a CRC has it: the highest power is the lowest bit. */
  readonly shift: number;
}

const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;

/** x^(2^n), for each n. */
const POWERS: number[] = [ONE >>> 1];
for (let n = 1; n < 32; n += 1) {
  const last = POWERS[n - 1] ?? 0;
  POWERS.push(product(last, last));
}

/** @param pieces of the part, in order */
export function checksumOf(pieces: readonly Buffer[]): Checksum {
  let [crc, length] = [0, 0];
  for (const piece of pieces) {
    crc = crc32(piece, crc);
    length += piece.length;
  }
  return { crc, length, shift: shiftBy(length) };
}

/** Returns the CRC of what has the CRC `before`, and then this part. */
export function joined(before: number, { crc, shift }: Checksum): number {
  return (product(shift, before) ^ crc) >>> 0;
}

function shiftBy(bytes: number): number {
  let shift = ONE;
  // A byte is 2^3 bits.
  for (let [rest, power] = [bytes, 3]; rest > 0; rest >>>= 1, power += 1) {
    if (rest & 1) shift = product(POWERS[power & 31] ?? 0, shift);
  }
  return shift;
}

/** Multiplies modulo the polynomial. Without branches, which the processor could not foresee: each delivery needs it. */
function product(one: number, other: number): number {
  let sum = 0;
  let factor = other | 0;
  let rest = one | 0;
  for (let bit = 0; bit < 32; bit += 1) {
    sum ^= factor & (rest >> 31);
    rest <<= 1;
    factor = (factor >>> 1) ^ (POLYNOMIAL & -(factor & 1));
  }
  return sum >>> 0;
}
