import { LuaError, type LuaValue } from './values.ts';

/** Classes of Lua's patterns, as they stand in a class of a regular expression. */
const CLASSES: Readonly<Record<string, string>> = {
  a: 'A-Za-z',
  d: '0-9',
  l: 'a-z',
  s: '\\s',
  u: 'A-Z',
  w: 'A-Za-z0-9',
  x: 'A-Fa-f0-9',
};

const REPETITIONS: Readonly<Record<string, string>> = { '-': '*?', '*': '*', '+': '+', '?': '?' };

const known = new Map<string, RegExp>();

/** `string.match`: the captures, or the whole match if there are none. */
export function matchPattern(text: string, pattern: string): LuaValue[] {
  let expression = known.get(pattern);
  if (expression === undefined) known.set(pattern, (expression = translate(pattern)));
  const found = expression.exec(text);
  if (found === null) return [undefined];
  return found.length > 1 ? found.slice(1) : [found[0]];
}

function translate(pattern: string): RegExp {
  let source = '';
  for (let index = 0; index < pattern.length; index += 1) {
    const letter = pattern[index] ?? '';
    const isBehindItem = /[^(^]$/.test(source);
    if (letter === '%') {
      index += 1;
      source += escaped(pattern[index] ?? '');
    } else if (letter === '^' && index === 0) source += '^';
    else if (letter === '$' && index === pattern.length - 1) source += '$';
    else if (letter === '(' || letter === ')' || letter === '.') source += letter;
    else if (isBehindItem && letter in REPETITIONS) source += REPETITIONS[letter];
    else if (letter === '[') throw new LuaError(`expected a pattern without sets, got ${pattern}`);
    else source += literal(letter);
  }
  return new RegExp(source, 's');
}

function escaped(letter: string): string {
  const lower = letter.toLowerCase();
  const members = CLASSES[lower];
  if (members !== undefined) return letter === lower ? `[${members}]` : `[^${members}]`;
  if (/\w/.test(letter)) throw new LuaError(`expected a class of characters, got %${letter}`);
  return literal(letter);
}

function literal(letter: string): string {
  return /[\w"':,\- ]/.test(letter) ? letter : `\\${letter}`;
}
