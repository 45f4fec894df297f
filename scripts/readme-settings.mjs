/**
 * Compares the table of settings in README.md with the one that the gateway prints; `--write` brings it up to date.
 * The table stands between `<!-- settings -->` and `<!-- /settings -->`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ensureAll, root } from './ensure.mjs';
import { run } from './lib/processes.mjs';

const readme = path.join(root, 'README.md');
const BLOCK = /(?<=<!-- settings -->\n)[^]*(?=<!-- \/settings -->)/;

await ensureAll();
try {
  await compare();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function compare() {
  const command = [path.join(root, 'dist/src/cli.js'), 'config', '--markdown'];
  const table = await run(process.execPath, command);
  // Formatted as the README is, or `yarn format` would make it stale.
  const wanted = `\n${await format(table, { ...(await resolveConfig(readme)), parser: 'markdown' })}\n`;
  const text = readFileSync(readme, 'utf8');
  const [block] = BLOCK.exec(text) ?? [];
  if (block === wanted) return;
  if (block === undefined) {
    throw new Error('README.md: expected <!-- settings --> and <!-- /settings -->, found no such block.');
  }
  if (!process.argv.includes('--write')) {
    throw new Error(
      'README.md: the settings are stale; `node scripts/readme-settings.mjs --write` updates them.',
    );
  }
  writeFileSync(
    readme,
    text.replace(BLOCK, () => wanted),
  );
}
