import { accessSync, constants } from 'node:fs';
import path from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Rootless sandboxes are missing in containers; the rest keeps it from calling home. */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What `CHROMIUM` names, else the first on the `PATH`. */
export function findChromium(env: NodeJS.ProcessEnv): string | undefined {
  if (env['CHROMIUM']) return env['CHROMIUM'];
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
