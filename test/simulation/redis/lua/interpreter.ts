import { compile } from './compiler.ts';
import { library, tableWith } from './library.ts';
import { LuaError, LuaTable, one, textOf, type LuaFunction, type LuaValue } from './values.ts';

/** What Redis replies to a command that a script runs. @throws LuaError for an error */
export type CallRedis = (name: string, args: readonly string[]) => unknown;

const LIBRARY = library();

/** Each script is compiled once in the process. */
const compiled = new Map<string, LuaFunction>();

/** Of the script that is running: there is only one at a time. */
let call: CallRedis = () => undefined;
const globals = new Map<string, LuaValue>(LIBRARY);

globals.set(
  'redis',
  tableWith({
    call: (...words) => {
      const [name = '', ...args] = words.map(argument);
      return fromReply(call(name, args));
    },
  }),
);

/**
 * Runs a script as EVAL does.
 *
 * @returns what Redis would reply
 * @throws LuaError if the script fails
 */
export function runScript(
  script: string,
  keys: readonly string[],
  args: readonly string[],
  callRedis: CallRedis,
): unknown {
  const run = compiled.get(script) ?? compile(script)((name) => globals.get(name));
  compiled.set(script, run);
  call = callRedis;
  globals.set('KEYS', new LuaTable([...keys]));
  globals.set('ARGV', new LuaTable([...args]));
  return toReply(one(run()));
}

function argument(value: LuaValue): string {
  const text = textOf(value);
  if (text === undefined) throw new LuaError('Lua redis lib command arguments must be strings or integers');
  return text;
}

/** No value is `false` to a script, and a status is a table. */
function fromReply(reply: unknown): LuaValue {
  if (reply === null || reply === undefined) return false;
  if (Array.isArray(reply)) return new LuaTable(reply.map(fromReply));
  if (reply === 'OK') return tableWith({ ok: 'OK' });
  return reply as string | number;
}

/** Numbers lose what is behind the point, and a list ends before the first nil. */
function toReply(value: LuaValue): unknown {
  if (value === undefined || value === false) return null;
  if (value === true) return 1;
  if (typeof value === 'number') return Math.trunc(value);
  if (!(value instanceof LuaTable)) return value;
  const error = value.get('err');
  if (error !== undefined) throw new LuaError(argument(error));
  const ok = value.get('ok');
  if (ok !== undefined) return ok;
  const end = value.list.indexOf(undefined);
  return (end < 0 ? value.list : value.list.slice(0, end)).map(toReply);
}
