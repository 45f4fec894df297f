import { randomUUID } from 'node:crypto';
import { checkDepth } from '../events/safe-keys.ts';
import type { JsonValue } from '../events/event.ts';
import { decimalAs } from './conversions.ts';
import type { Naming } from './decoder.ts';
import type { Shape } from './shape.ts';

/** Numbers of fewer characters are exact in JavaScript. */
const EXACT_CHARACTERS = 15;

/** Found in all JSON, and in some texts, that holds a number which JSON.parse and `String` may change. */
const CHANGED = /\d[\d.]{15}|\.\d*0(?!\d)|\d[eE]|-0/;

/** A number as JSON has it. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** A number in JSON is followed by this: not by a part of another one, nor by the colon behind a key. */
const BEHIND = /\s*(?:[,\]}]|$)/y;

const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39];

/** Marks the text of a number. No event can hold it, as it is random. */
const MARK = `\0${randomUUID()} `;
const ESCAPED_MARK = JSON.stringify(MARK).slice(1, -1);

/**
 * Parses JSON and keeps all digits of numbers, as text, where the schema has a scalar for such numbers. JSON.parse rounds
 * them to 53 bits, and drops zeros at their ends.
 *
 * @throws SyntaxError, or DecodeError `too_deep`
 */
export function parseWithDigits(text: string, shape: Shape, naming: Naming): JsonValue {
  return restored(JSON.parse(marked(text)) as JsonValue, shape, naming, 1);
}

/** Puts numbers that JSON.parse may change between quotes. What is no JSON stays none. */
function marked(text: string): string {
  if (!CHANGED.test(text)) return text;
  let result = '';
  let taken = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      const number = text.slice(at, end);
      if (mayChange(number) && isWhole(text, end)) {
        result += `${text.slice(taken, at)}"${ESCAPED_MARK}${number}"`;
        taken = end;
      }
      at = Math.max(end, at + 1);
    } else at += 1;
  }
  return taken === 0 ? text : result + text.slice(taken);
}

/** @returns where the text is over that begins here */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH && before > start) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
    at = quote + 1;
  }
}

function endOfNumber(text: string, start: number): number {
  NUMBER.lastIndex = start;
  return NUMBER.test(text) ? NUMBER.lastIndex : start;
}

function isWhole(text: string, end: number): boolean {
  BEHIND.lastIndex = end;
  return BEHIND.test(text);
}

function mayChange(number: string): boolean {
  return number.length > EXACT_CHARACTERS || /[eE]|\.\d*0$|^-0/.test(number);
}

function restored(value: JsonValue, shape: Shape | undefined, naming: Naming, depth: number): JsonValue {
  if (typeof value === 'number') return shape?.leaf === 'digits' ? String(value) : value;
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
  return shape?.leaf === 'text' && /^-?\d+$/.test(text) ? text : Number(text);
}
