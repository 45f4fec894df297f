import { changed } from './changed-connection.ts';
import type { Defect } from './defect.ts';

/** Replaces a part of the scripts that pods run. */
export function scripted(part: string, other: string): Defect {
  return {
    commands: (real) =>
      changed(real, {
        command: ([name, script = '', ...args]) =>
          name === 'EVAL' ? [name, script.replace(part, other), ...args] : [name, script, ...args],
      }),
  };
}
