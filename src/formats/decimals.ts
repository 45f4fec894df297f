/** A decimal number of any size in its shortest form: sign, digits before and behind the point. */
interface Decimal {
  readonly sign: '-' | '';
  /** Without zeros before it; empty for 0. */
  readonly whole: string;
  /** Without zeros behind it. */
  readonly fraction: string;
}

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/** Longer numbers are none: comparing them would take long. */
const MOST_CHARACTERS = 1_000;

/** @returns undefined if it is neither a number nor the text of one */
export function decimalOf(value: unknown): Decimal | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const text = String(value);
  const match = text.length <= MOST_CHARACTERS ? NUMBER.exec(text) : null;
  if (match === null) return undefined;
  const [, sign, before = '', behind = '', exponent = '0'] = match;
  if (before === '' && behind === '') return undefined;
  const digits = before + behind;
  const point = before.length + Number(exponent);
  const whole = digits.slice(0, Math.max(point, 0)).padEnd(point, '0').replace(/^0+/, '');
  const fraction = (point < 0 ? '0'.repeat(-point) + digits : digits.slice(point)).replace(/0+$/, '');
  const isZero = whole === '' && fraction === '';
  return { sign: sign === '-' && !isZero ? '-' : '', whole, fraction };
}

/** The same text for equal numbers; undefined as in `decimalOf`. */
export function canonicalDecimal(value: unknown): string | undefined {
  const decimal = decimalOf(value);
  // With a sign that no text of a number has, as what is none stays itself.
  return decimal && `#${decimal.sign}${decimal.whole}.${decimal.fraction}`;
}

/** Negative if the first is the smaller one, 0 if they are equal. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  if (one.sign !== other.sign) return one.sign === '-' ? -1 : 1;
  const [smaller, larger] = one.sign === '-' ? [other, one] : [one, other];
  if (smaller.whole.length !== larger.whole.length) return smaller.whole.length - larger.whole.length;
  return compareText(smaller.whole, larger.whole) || compareText(smaller.fraction, larger.fraction);
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
