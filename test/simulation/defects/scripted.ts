import { changed } from './changed-connection.ts';
import type { Defect } from './defect.ts';

/** Runs scripts with a part that is another. */
export function scripted(part: string, other: string): Defect {
  return {
    commands: (real) =>
      changed(real, {
        command: ([name, script = '', ...args]) =>
          name === 'EVAL' ? [name, script.replace(part, other), ...args] : [name, script, ...args],
      }),
  };
}
