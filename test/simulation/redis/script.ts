import type { Reply } from '../../../src/bus/redis/connection.ts';
import { runScript, type CallRedis } from './lua/interpreter.ts';
import { LuaError } from './lua/values.ts';

/** EVAL script numkeys [key …] [arg …] */
export function evaluate(words: readonly string[], call: CallRedis): Reply {
  const [script = '', count, ...rest] = words;
  const keys = Number(count);
  try {
    return { value: runScript(script, rest.slice(0, keys), rest.slice(keys), call) };
  } catch (thrown) {
    if (thrown instanceof LuaError) return { error: new Error(thrown.message) };
    throw thrown;
  }
}

/**
 * Whether a script is refused a command, and how it is told.
 *
 * @param reason why a client would be refused it at present
 * @param isDirty whether the script has written: then memory does not matter any more
 */
export function refusalInScript(reason: string | undefined, isDirty: boolean): string | undefined {
  if (reason === undefined || reason.startsWith('BUSY')) return undefined;
  if (reason.startsWith('NOPERM')) {
    return "ERR The user executing the script can't run this command or subcommand";
  }
  return reason.startsWith('OOM') && isDirty ? undefined : reason;
}
