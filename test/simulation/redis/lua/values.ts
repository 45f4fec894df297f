/** What Lua's nil, booleans, numbers, strings, tables and functions are here. Strings count UTF-16 units: ASCII is alike. */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;

/** Returns one value, or a list of several. */
export type LuaFunction = (...args: LuaValue[]) => LuaValue | LuaValue[];

/** What a script raises; Redis's own errors too. */
export class LuaError extends Error {}

export class LuaTable {
  /** Those at 1, 2, 3 … */
  readonly list: LuaValue[];
  readonly #others = new Map<LuaValue, LuaValue>();

  constructor(list: LuaValue[] = []) {
    this.list = list;
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === 'number' && key >= 1 && key <= this.list.length) return this.list[key - 1];
    return this.#others.get(key);
  }

  set(key: LuaValue, value: LuaValue): void {
    const { list } = this;
    if (key === undefined) throw new LuaError('table index is nil');
    if (typeof key !== 'number' || key < 1 || key > list.length + 1 || !Number.isInteger(key)) {
      if (value === undefined) this.#others.delete(key);
      else this.#others.set(key, value);
      return;
    }
    if (key <= list.length) {
      list[key - 1] = value;
      while (list.length > 0 && list.at(-1) === undefined) list.pop();
      return;
    }
    if (value === undefined) return;
    list.push(value);
    // What was set beyond the end may have its place behind it now.
    for (let next = list.length + 1; this.#others.has(next); next += 1) {
      list.push(this.#others.get(next));
      this.#others.delete(next);
    }
  }

  entries(): [LuaValue, LuaValue][] {
    const listed = this.list.map((value, index): [LuaValue, LuaValue] => [index + 1, value]);
    return [...listed.filter(([, value]) => value !== undefined), ...this.#others];
  }
}

/** The first of what a function has returned. */
export function one(returned: LuaValue | LuaValue[]): LuaValue {
  return Array.isArray(returned) ? returned[0] : returned;
}

export function typeName(value: LuaValue): string {
  if (value === undefined) return 'nil';
  if (value instanceof LuaTable) return 'table';
  return typeof value;
}

/** As Lua 5.1 writes it: `%.14g`. */
export function textOf(value: LuaValue): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return undefined;
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(14)));
}

/** @returns undefined for what is no number, and does not look like one */
export function numberOf(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^\s*-?(0x[\da-f]+|(\d+\.?\d*|\.\d+)(e[-+]?\d+)?)\s*$/i.test(value)) {
    return undefined;
  }
  return Number(value);
}
