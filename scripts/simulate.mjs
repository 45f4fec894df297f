/** `yarn simulate [--seeds n] [--from n] [--workers n] | --seed n […]`: installs and builds what is missing, and runs it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import path from 'node:path';
import { ensureAll, root } from './ensure.mjs';

await ensureAll();
const cli = path.join(root, 'dist/test/simulation/cli.js');
const child = spawn(process.execPath, ['--enable-source-maps', cli, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
const [code, signal] = await once(child, 'exit');
process.exitCode = signal === null ? code : 128 + constants.signals[signal];
