import {
  LuaError,
  LuaTable,
  numberOf,
  tableOf,
  textOf,
  toNumber,
  typeName,
  type LuaValue,
} from './values.ts';

/** The part of Lua's library that scripts use. */
export const LIBRARY: Readonly<Record<string, LuaValue>> = {
  tonumber: (value, base = 10) => (base === 16 ? parseInt(textOf(value), 16) : toNumber(value)),
  tostring: (value) =>
    typeof value === 'string' || typeof value === 'number'
      ? textOf(value)
      : typeof value === 'boolean'
        ? String(value)
        : typeName(value),
  type: typeName,
  string: LuaTable.of({
    format,
    match: (text, pattern) => match(textOf(text), textOf(pattern)),
    sub: (text, from, to) => textOf(text).slice(numberOf(from) - 1, numberOf(to)),
  }),
  math: LuaTable.of({
    floor: (value) => Math.floor(numberOf(value)),
    max: (one, other) => Math.max(numberOf(one), numberOf(other)),
  }),
};

/** Operations of compiled scripts that JavaScript does in another way. */
export const OPERATORS = {
  LuaTable,
  isTrue: (value: LuaValue): boolean => value !== undefined && value !== false,
  number: numberOf,
  text: textOf,
  table: tableOf,
  modulo: (one: number, other: number): number => one - Math.floor(one / other) * other,

  length: (value: LuaValue): number =>
    typeof value === 'string' ? value.length : tableOf(value).list.length,

  /** Below 0: the first value is less. */
  order: (one: LuaValue, other: LuaValue): number => {
    const isAlike = typeof one === typeof other && (typeof one === 'number' || typeof one === 'string');
    if (!isAlike) throw new LuaError(`attempt to compare ${typeName(one)} with ${typeName(other)}`);
    if (one === other) return 0;
    return (one as string | number) < (other as string | number) ? -1 : 1;
  },

  call: (value: LuaValue, ...args: LuaValue[]): LuaValue => {
    if (typeof value === 'function') return value(...args);
    throw new LuaError(`attempt to call a ${typeName(value)} value`);
  },

  pairs: (value: LuaValue): [LuaValue, LuaValue][] => {
    const table = tableOf(value);
    return [...OPERATORS.ipairs(table), ...table.named];
  },
  ipairs: (value: LuaValue): [LuaValue, LuaValue][] =>
    tableOf(value).list.map((element, index) => [index + 1, element]),
};

function format(template: LuaValue, ...values: LuaValue[]): string {
  let next = 0;
  return textOf(template).replace(/%(.)/g, (_, letter: string) => {
    const value = values[next];
    next += 1;
    if (letter === 's') return textOf(value);
    if (letter === 'd') return String(Math.trunc(numberOf(value)));
    throw new LuaError(`expected %d or %s in a format, got %${letter}`);
  });
}

const PATTERNS = new Map<string, RegExp>();

/** Finds a pattern of letters, classes, `+` and `?`: its only capture, or the whole match if there is none. */
function match(text: string, pattern: string): string | undefined {
  let expression = PATTERNS.get(pattern);
  if (expression === undefined) PATTERNS.set(pattern, (expression = expressionOf(pattern)));
  const [whole, captured = whole] = expression.exec(text) ?? [];
  return captured;
}

function expressionOf(pattern: string): RegExp {
  const source = pattern.replace(/%(.)|[^\w"':, ^$()+?]/g, (item, escaped?: string) => {
    if (escaped === 'w') return '[A-Za-z0-9]';
    if (escaped === 'd') return '[0-9]';
    if (/[[{}\].-]$/.test(item) && !'[.-'.includes(item)) return `\\${item.at(-1)}`;
    throw new LuaError(`expected a pattern that the simulation knows, got ${pattern}`);
  });
  return new RegExp(source);
}
