import { parseArgs } from 'node:util';

/**
 * Reads the arguments of a script. An unknown option, or too many words, end the process with 1 before any work is
 * done: otherwise the script would take them for a folder, or ignore them.
 *
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} Options
 * @param {string} usage how the script is called
 * @param {{ options?: Options, words?: number }} [known] `words`: the most words besides options
 */
export function readArguments(usage, { options = {}, words = 0 } = {}) {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.length > words)
      throw new Error(`Expected the arguments below, got '${positionals.join(' ')}'`);
    return { values, positionals };
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(1);
  }
}
