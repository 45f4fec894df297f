/** Installs and builds what is missing, then runs a compiled command line with this script's arguments. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import path from 'node:path';
import { ensureAll, root } from '../ensure.mjs';

/** @param cli a file below `dist` */
export async function runBuilt(cli) {
  await ensureAll();
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', path.join(root, 'dist', cli), ...process.argv.slice(2)],
    { stdio: 'inherit' },
  );
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  const [code, signal] = await once(child, 'exit');
  process.exitCode = signal === null ? code : 128 + constants.signals[signal];
}
