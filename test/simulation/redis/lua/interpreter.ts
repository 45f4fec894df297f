import { compile, type Script } from './compiler.ts';
import { LuaError, LuaTable, textOf, type LuaValue } from './values.ts';

/** Returns Redis's reply to a command of a script. @throws LuaError for an error */
export type CallRedis = (name: string, args: readonly string[]) => unknown;

/** Each script is compiled once in the process. */
const compiled = new Map<string, Script>();

/** The call of the script that is running: there is only one at a time. */
let call: CallRedis = () => undefined;

const callIt = (...words: readonly LuaValue[]): LuaValue => {
  const [name = '', ...args] = words.map(textOf);
  return fromReply(call(name, args));
};

const redis = LuaTable.of({
  call: callIt,
  pcall: (...words) => {
    try {
      return callIt(...words);
    } catch (thrown) {
      if (thrown instanceof LuaError) return LuaTable.of({ err: thrown.message });
      throw thrown;
    }
  },
});

/**
 * Runs a script like EVAL.
 *
 * @returns Redis's reply
 * @throws LuaError if the script fails
 */
export function runScript(
  script: string,
  keys: readonly string[],
  args: readonly string[],
  callRedis: CallRedis,
): unknown {
  const run = compiled.get(script) ?? compile(script, redis);
  compiled.set(script, run);
  call = callRedis;
  return toReply(run(new LuaTable([...keys]), new LuaTable([...args])));
}

/** A script gets `false` in place of a missing value, and a table for a status. */
function fromReply(reply: unknown): LuaValue {
  if (reply === null || reply === undefined) return false;
  if (Array.isArray(reply)) return new LuaTable(reply.map(fromReply));
  if (reply === 'OK') return LuaTable.of({ ok: 'OK' });
  return reply as string | number;
}

/** Numbers lose their fraction, and a list ends before its first nil. */
function toReply(value: LuaValue): unknown {
  if (value === undefined || value === false) return null;
  if (value === true) return 1;
  if (typeof value === 'number') return Math.trunc(value);
  if (typeof value === 'function') throw new LuaError('expected a reply, got a function');
  if (typeof value === 'string') return value;
  const ok = value.get('ok');
  if (ok !== undefined) return ok;
  const end = value.list.indexOf(undefined);
  return (end < 0 ? value.list : value.list.slice(0, end)).map(toReply);
}
