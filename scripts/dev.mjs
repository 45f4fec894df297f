/** `yarn dev`: the gateway, built anew and started anew on every change. */
import { spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import path from 'node:path';
import { ensureAll, ensureBuilt, root } from './ensure.mjs';

await ensureAll('RUNTIME');

const DEVELOPMENT = {
  // A restart need not drain connections here, and a developer does not want to wait for it.
  DRAIN_DELAY_SECONDS: '0',
  DRAIN_SECONDS: '0',
  // Node.js watches modules, and not the schema: that is reloaded.
  WATCH_GRAPH: 'true',
  // The developer is the client.
  MASK_ERRORS: 'false',
};

// Node's own watcher restarts the process when a file that it has loaded changes; the build is what changes them.
const gateway = spawn(
  process.execPath,
  [
    '--watch',
    '--watch-preserve-output',
    '--enable-source-maps',
    path.join(root, 'dist/src/cli.js'),
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit', env: { ...DEVELOPMENT, ...process.env } },
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
