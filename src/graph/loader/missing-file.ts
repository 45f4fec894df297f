import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Endings that an import may lack. */
const ENDINGS = ['.ts', '.js', '.json', '/index.ts', '/index.js'];

/** Beginning of the message, by which `loadCode` recognises the error. */
export const MISSING_FILE = 'expected the name of a file, with its ending';

/**
 * The error for a relative import that leads to no file, with the place of the import: `file:line:column: …`.
 *
 * @param specifier as it is written
 * @param parent URL of the module with the import
 */
export function missingFile(specifier: string, parent: string): Error {
  const file = fileURLToPath(parent);
  const before = readFileSync(file, 'utf8').split(specifier, 1)[0] ?? '';
  const lines = before.split('\n');
  // The position of the quotation mark before the specifier.
  const place = `${file}:${lines.length}:${lines.at(-1)?.length ?? 1}`;
  const ending = ENDINGS.find((one) => existsSync(new URL(specifier + one, parent)));
  const instead = ending === undefined ? '' : `; there is '${specifier}${ending}'`;
  return new Error(`${place}: ${MISSING_FILE}, got '${specifier}'${instead}`);
}
