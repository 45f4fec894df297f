/** Lua's nil, booleans, numbers, strings, tables and functions. Strings count UTF-16 units: bytes, if ASCII. */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;

export type LuaFunction = (...args: LuaValue[]) => LuaValue;

/** An error that a script raises, or an error of Redis. */
export class LuaError extends Error {}

export class LuaTable {
  /** The values with keys 1, 2, 3 … */
  readonly list: LuaValue[];
  readonly named = new Map<LuaValue, LuaValue>();

  constructor(list: LuaValue[] = []) {
    this.list = list;
  }

  static of(fields: Readonly<Record<string, LuaValue>>): LuaTable {
    const table = new LuaTable();
    for (const [name, value] of Object.entries(fields)) table.set(name, value);
    return table;
  }

  get(key: LuaValue): LuaValue {
    return typeof key === 'number' ? this.list[key - 1] : this.named.get(key);
  }

  set(key: LuaValue, value: LuaValue): void {
    const { list } = this;
    if (key === undefined || value === undefined) throw new LuaError('expected a key and a value, got nil');
    if (typeof key !== 'number') this.named.set(key, value);
    else if (Number.isInteger(key) && key >= 1 && key <= list.length + 1) list[key - 1] = value;
    else throw new LuaError(`expected a list without holes, got something at ${key}`);
  }
}

export function typeName(value: LuaValue): string {
  if (value === undefined) return 'nil';
  return value instanceof LuaTable ? 'table' : typeof value;
}

/** Returns the text as Lua 5.1 writes it: `%.14g`. */
export function textOf(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(Number(value.toPrecision(14)));
  throw new LuaError(`expected a string or number, got ${typeName(value)}`);
}

/** @returns undefined for a value that is no number, and no text of one */
export function toNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\s*-?(\d+\.?\d*|\.\d+)\s*$/.test(value) ? Number(value) : undefined;
}

export function numberOf(value: LuaValue): number {
  const number = toNumber(value);
  if (number === undefined) throw new LuaError(`expected a number, got ${typeName(value)}`);
  return number;
}

export function tableOf(value: LuaValue): LuaTable {
  if (value instanceof LuaTable) return value;
  throw new LuaError(`expected a table, got ${typeName(value)}`);
}
