/** `yarn dev`: runs `sluice dev`; rebuilds and restarts it on every change of Sluice itself. */
import { spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import path from 'node:path';
import { ensureAll, ensureBuilt, root } from './ensure.mjs';

await ensureAll('RUNTIME');

// Node's own watcher restarts the process when a file that it has loaded changes, which the build does. The graph's
// schema is no such file: the gateway reloads it itself.
const gateway = spawn(
  process.execPath,
  [
    '--watch',
    '--watch-preserve-output',
    '--enable-source-maps',
    path.join(root, 'dist/src/cli.js'),
    'dev',
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit' },
);
gateway.once('exit', (code) => process.exit(code ?? 0));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => gateway.kill(signal));

let building = Promise.resolve();
for (const folder of ['src', 'examples', 'babel-plugins'].filter((name) =>
  existsSync(path.join(root, name)),
)) {
  watch(path.join(root, folder), { recursive: true }, () => {
    building = building.then(() => ensureBuilt('RUNTIME')).catch((error) => console.error(error.message));
  });
}
