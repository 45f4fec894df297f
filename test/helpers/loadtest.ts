import { execFile } from 'node:child_process';
import path from 'node:path';

const CLI = path.resolve(import.meta.dirname, '../../loadtest/cli.js');

export interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `yarn loadtest <args>` to its end, without the script that installs packages and starts services. */
export function loadtest(...args: readonly string[]): Promise<Ending> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [CLI, ...args], (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
      else reject(error);
    });
  });
}
