import { LuaError, LuaTable, numberOf, textOf, typeName, type LuaFunction, type LuaValue } from './values.ts';

/** What compiled scripts do with values, beside what JavaScript does in the same way. */
export const OPERATORS = {
  isTrue: (value: LuaValue): boolean => value !== undefined && value !== false,

  add: (one: LuaValue, other: LuaValue): number => operand(one) + operand(other),
  subtract: (one: LuaValue, other: LuaValue): number => operand(one) - operand(other),
  multiply: (one: LuaValue, other: LuaValue): number => operand(one) * operand(other),
  divide: (one: LuaValue, other: LuaValue): number => operand(one) / operand(other),
  modulo: (one: LuaValue, other: LuaValue): number => {
    const divisor = operand(other);
    return operand(one) - Math.floor(operand(one) / divisor) * divisor;
  },
  power: (one: LuaValue, other: LuaValue): number => operand(one) ** operand(other),
  negate: (value: LuaValue): number => -operand(value),

  concatenate: (one: LuaValue, other: LuaValue): string => piece(one) + piece(other),

  length: (value: LuaValue): number => {
    if (typeof value === 'string') return value.length;
    if (value instanceof LuaTable) return value.list.length;
    throw new LuaError(`attempt to get length of a ${typeName(value)} value`);
  },

  isLess: (one: LuaValue, other: LuaValue): boolean => {
    if (typeof one === 'number' && typeof other === 'number') return one < other;
    if (typeof one === 'string' && typeof other === 'string') return one < other;
    throw new LuaError(`attempt to compare ${typeName(one)} with ${typeName(other)}`);
  },

  isAtMost: (one: LuaValue, other: LuaValue): boolean => {
    if (typeof one === 'number' && typeof other === 'number') return one <= other;
    if (typeof one === 'string' && typeof other === 'string') return one <= other;
    throw new LuaError(`attempt to compare ${typeName(one)} with ${typeName(other)}`);
  },

  get: (value: LuaValue, key: LuaValue): LuaValue => tableOf(value).get(key),
  set: (value: LuaValue, key: LuaValue, element: LuaValue): void => tableOf(value).set(key, element),

  callable: (value: LuaValue): LuaFunction => {
    if (typeof value === 'function') return value;
    throw new LuaError(`attempt to call a ${typeName(value)} value`);
  },

  /** @param keyed keys and values in turn */
  table: (list: LuaValue[], keyed: readonly LuaValue[]): LuaTable => {
    const table = new LuaTable();
    for (let index = 0; index < keyed.length; index += 2) table.set(keyed[index], keyed[index + 1]);
    list.forEach((value, index) => table.set(index + 1, value));
    return table;
  },

  /** What is returned where several values may be. */
  all: (returned: LuaValue | LuaValue[]): LuaValue[] => (Array.isArray(returned) ? returned : [returned]),
};

function operand(value: LuaValue): number {
  const number = numberOf(value);
  if (number === undefined) throw new LuaError(`attempt to perform arithmetic on a ${typeName(value)} value`);
  return number;
}

function piece(value: LuaValue): string {
  const text = textOf(value);
  if (text === undefined) throw new LuaError(`attempt to concatenate a ${typeName(value)} value`);
  return text;
}

function tableOf(value: LuaValue): LuaTable {
  if (value instanceof LuaTable) return value;
  throw new LuaError(`attempt to index a ${typeName(value)} value`);
}
