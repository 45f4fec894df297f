import type { Shape } from './shape.ts';

/** An integer: text where all digits count; otherwise a number, beyond 2^53 the nearest. */
export function integerAs(shape: Shape | undefined, value: number | bigint): string | number {
  return shape?.leaf === 'digits' || shape?.leaf === 'text' ? String(value) : Number(value);
}

/** A binary floating-point number. JSON has no NaN and no infinity: they become text, an error at an Int or a Float. */
export function realAs(shape: Shape | undefined, value: number): string | number {
  return shape?.leaf === 'digits' || !Number.isFinite(value) ? String(value) : value;
}

/** A decimal number, written with all digits. */
export function decimalAs(shape: Shape | undefined, digits: string): string | number {
  return shape?.leaf === 'number' ? Number(digits) : digits;
}

/** Writes a decimal number: 1234 with scale 2 is 12.34. */
export function withScale(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** @param bytes two's complement, the most significant first; none is 0 */
export function bigIntOf(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
}

/** Digits of a fraction of a second, by unit. */
export type TimeUnit = 3 | 6 | 9;

/** The last ms that `Date` knows. */
const MOST_MS = 8.64e15;

/**
 * A point in time: a number for fields of numbers, else text as in ISO 8601.
 *
 * @param value since 1970
 * @param unit 3: ms; 6: µs; 9: ns
 * @param zone "Z", or nothing for a local time
 */
export function timestampAs(
  shape: Shape | undefined,
  value: number | bigint,
  unit: TimeUnit,
  zone: 'Z' | '',
): string | number {
  if (shape?.takesNumbers === true) return integerAs(shape, value);
  const [seconds, fraction] = parted(value, unit);
  return Math.abs(seconds) * 1_000 > MOST_MS - 1_000 ? String(value) : instant(seconds, fraction, zone);
}

/** @param fraction digits of a fraction of a second */
export function instant(seconds: number, fraction: string, zone: 'Z' | ''): string {
  const text = new Date(seconds * 1_000).toISOString().slice(0, -'.000Z'.length);
  return `${text}${fraction === '' ? '' : `.${fraction}`}${zone}`;
}

/** A day. @param value days since 1970 */
export function dateAs(shape: Shape | undefined, value: number): string | number {
  if (shape?.takesNumbers === true) return integerAs(shape, value);
  const ms = value * 86_400_000;
  return Math.abs(ms) > MOST_MS ? String(value) : (new Date(ms).toISOString().split('T')[0] ?? '');
}

/** A time of day. @param value since midnight */
export function timeAs(shape: Shape | undefined, value: number | bigint, unit: TimeUnit): string | number {
  if (shape?.takesNumbers === true) return integerAs(shape, value);
  const [seconds, fraction] = parted(value, unit);
  if (seconds < 0 || seconds >= 86_400) return String(value);
  return instant(seconds, fraction, '').split('T')[1] ?? '';
}

/** Whole seconds, and the digits of the rest. */
function parted(value: number | bigint, unit: TimeUnit): [seconds: number, fraction: string] {
  const perSecond = 10 ** unit;
  if (typeof value === 'number') {
    const seconds = Math.floor(value / perSecond);
    return [seconds, String(value - seconds * perSecond).padStart(unit, '0')];
  }
  const rest = ((value % BigInt(perSecond)) + BigInt(perSecond)) % BigInt(perSecond);
  return [Number((value - rest) / BigInt(perSecond)), String(rest).padStart(unit, '0')];
}
