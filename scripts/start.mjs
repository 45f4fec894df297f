/**
 * `npm start`: installs and builds what is missing, then runs the gateway, in a consumer group of its own, with the
 * given arguments. `npm start -- init`: the project gets the tarball of this checkout, since no registry has it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ensureAll, root } from './ensure.mjs';

await ensureAll('RUNTIME');
process.setSourceMapsEnabled(true);
const { readEnvFile } = await import('../dist/src/cli/env-file.js');
const { ownGroup } = await import('../dist/src/cli/own-group.js');
// Read before the default group is set, which would take precedence over the file's group.
readEnvFile(process.env);
// An empty variable counts as not set.
process.env.KAFKA_GROUP_ID ||= ownGroup('sluice-start');
if (process.argv[2] === 'init') process.argv.push(...packed());
await import('../dist/src/cli.js');

function packed() {
  if (process.argv.some((arg) => arg === '--help' || arg.startsWith('--package'))) return [];
  console.error('Packing Sluice …');
  const pack = path.join(root, 'scripts/release/pack.mjs');
  execFileSync(process.execPath, [pack], { stdio: ['ignore', 'ignore', 'inherit'] });
  const { name, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return ['--package', path.join(root, '.release', `${name}-${version}.tgz`)];
}
