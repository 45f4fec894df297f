import { parseArgs } from 'node:util';

/**
 * What a script is told. An option that is none of these, or a word too many, ends the process with 1, before anything is
 * done: it would have been taken for a folder, or for nothing.
 *
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} Options
 * @param {string} usage how the script is called
 * @param {{ options?: Options, words?: number }} [known] `words`: how many there may be besides options
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
