import { matchPattern } from './pattern.ts';
import { LuaError, LuaTable, numberOf, textOf, typeName, type LuaFunction, type LuaValue } from './values.ts';

/** Of Lua's library, what scripts use. What is missing here is nil there: a script that calls it fails. */
export function library(): Map<string, LuaValue> {
  return new Map<string, LuaValue>([
    ['tonumber', (value) => numberOf(value)],
    ['tostring', (value) => textOf(value) ?? (typeof value === 'boolean' ? String(value) : typeName(value))],
    ['type', (value) => typeName(value)],
    ['error', raise],
    ['pairs', pairs],
    ['ipairs', ipairs],
    ['unpack', (table) => [...tableIn(table).list]],
    ['string', tableWith({ format, match, sub, len: (text) => textIn(text).length })],
    ['math', tableWith(MATHS)],
    ['table', tableWith({ insert, concat, remove: (table) => tableIn(table).list.pop() })],
  ]);
}

export function tableWith(fields: Readonly<Record<string, LuaValue>>): LuaTable {
  const table = new LuaTable();
  for (const [name, value] of Object.entries(fields)) table.set(name, value);
  return table;
}

const MATHS: Readonly<Record<string, LuaValue>> = {
  floor: (value) => Math.floor(numberIn(value)),
  ceil: (value) => Math.ceil(numberIn(value)),
  abs: (value) => Math.abs(numberIn(value)),
  max: (...values) => Math.max(...values.map(numberIn)),
  min: (...values) => Math.min(...values.map(numberIn)),
  huge: Infinity,
};

const raise: LuaFunction = (value) => {
  throw new LuaError(textOf(value) ?? typeName(value));
};

const pairs: LuaFunction = (table) => iterator(tableIn(table).entries());

const ipairs: LuaFunction = (table) =>
  iterator(tableIn(table).list.map((value, index): [LuaValue, LuaValue] => [index + 1, value]));

function iterator(entries: readonly [LuaValue, LuaValue][]): LuaFunction {
  let next = 0;
  return () => {
    const entry = entries[next];
    next += 1;
    return entry ?? undefined;
  };
}

const format: LuaFunction = (template, ...values) => {
  let next = 0;
  return textIn(template).replace(/%(.)/g, (_, letter: string) => {
    if (letter === '%') return '%';
    const value = values[next];
    next += 1;
    if (letter === 's') return textOf(value) ?? typeName(value);
    if (letter === 'd') return String(Math.trunc(numberIn(value)));
    throw new LuaError(`expected %d or %s in a format, got %${letter}`);
  });
};

const match: LuaFunction = (text, pattern) => matchPattern(textIn(text), textIn(pattern));

const sub: LuaFunction = (text, from, to = -1) => {
  const whole = textIn(text);
  const place = (value: LuaValue): number => {
    const number = numberIn(value);
    return number < 0 ? whole.length + number + 1 : number;
  };
  return whole.slice(Math.max(place(from), 1) - 1, Math.max(place(to), 0));
};

const insert: LuaFunction = (table, value, ...rest) => {
  if (rest.length > 0) throw new LuaError('expected insert at the end of a table, got a place');
  const list = tableIn(table);
  list.set(list.list.length + 1, value);
  return undefined;
};

const concat: LuaFunction = (table, separator = '') =>
  tableIn(table).list.map(textIn).join(textIn(separator));

function tableIn(value: LuaValue): LuaTable {
  if (value instanceof LuaTable) return value;
  throw new LuaError(`bad argument: table expected, got ${typeName(value)}`);
}

function textIn(value: LuaValue): string {
  const text = textOf(value);
  if (text === undefined) throw new LuaError(`bad argument: string expected, got ${typeName(value)}`);
  return text;
}

function numberIn(value: LuaValue): number {
  const number = numberOf(value);
  if (number === undefined) throw new LuaError(`bad argument: number expected, got ${typeName(value)}`);
  return number;
}
