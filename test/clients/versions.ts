import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../docs/markdown.ts';

/** @returns the version of a package as it is installed */
export function versionOf(packageName: string): string {
  const file = path.join(ROOT, 'node_modules', packageName, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** @returns the version that a file of this folder names */
export function versionIn(file: string, pattern: RegExp): string {
  const [, version] = pattern.exec(readFileSync(path.join(import.meta.dirname, file), 'utf8')) ?? [];
  if (version === undefined) throw new Error(`Expected ${pattern} in ${file}, found none.`);
  return version;
}
