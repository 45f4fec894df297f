import { randomUUID } from 'node:crypto';
import { checkDepth } from '../events/safe-keys.ts';
import type { JsonValue } from '../events/event.ts';
import { integerAs, decimalAs } from './conversions.ts';
import type { Naming } from './decoder.ts';
import type { Shape } from './shape.ts';

/** JSON with fewer digits in a row holds only numbers that JavaScript has exactly, or such that their fraction is rounded. */
const MANY_DIGITS = /\d[\d.]{15}/;

/** Texts, which are passed over, and numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]{15,}(?:[eE][+-]?\d+)?/g;

/** Marks the text of a number. No event can hold it, as nobody knows it. */
const MARK = `\0${randomUUID()} `;
const ESCAPED_MARK = JSON.stringify(MARK).slice(1, -1);

/**
 * Parses JSON and keeps all digits of numbers, as text, where the schema has a scalar for such numbers. JSON.parse rounds
 * them to 53 bits.
 *
 * @throws SyntaxError, or DecodeError `too_deep`
 */
export function parseWithDigits(text: string, shape: Shape, naming: Naming): JsonValue {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text) as JsonValue;
  const marked = text.replace(TOKENS, (token) =>
    token.startsWith('"') ? token : `"${ESCAPED_MARK}${token}"`,
  );
  return restored(JSON.parse(marked) as JsonValue, shape, naming, 1);
}

function restored(value: JsonValue, shape: Shape | undefined, naming: Naming, depth: number): JsonValue {
  if (typeof value === 'string') {
    return value.startsWith(MARK) ? numberAs(shape, value.slice(MARK.length)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  checkDepth(depth);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = restored(item, shape, naming, depth + 1);
    return value;
  }
  for (const key of Object.keys(value)) {
    const child = value[key] as JsonValue;
    const whole = restored(child, shape?.field(naming(key)), naming, depth + 1);
    if (whole !== child) value[key] = whole;
  }
  return value;
}

/** @param text of a number in JSON */
function numberAs(shape: Shape | undefined, text: string): string | number {
  if (shape?.leaf === 'digits') return decimalAs(shape, text);
  return /^-?\d+$/.test(text) && shape?.leaf === 'text' ? integerAs(shape, BigInt(text)) : Number(text);
}
