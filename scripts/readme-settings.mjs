/**
 * Compares the table of settings in README.md with the one that the gateway prints; `--write` brings it up to date.
 * The table stands between `<!-- settings -->` and `<!-- /settings -->`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ensureAll, root } from './ensure.mjs';

const readme = path.join(root, 'README.md');
const BLOCK = /(?<=<!-- settings -->\n)[^]*(?=<!-- \/settings -->)/;

await ensureAll();
const table = execFileSync(process.execPath, [path.join(root, 'dist/src/cli.js'), 'config', '--markdown'], {
  encoding: 'utf8',
});
// Formatted as the README is, or `yarn format` would make it stale.
const wanted = `\n${await format(table, { ...(await resolveConfig(readme)), parser: 'markdown' })}\n`;
const text = readFileSync(readme, 'utf8');

if (!BLOCK.test(text))
  fail('README.md: expected <!-- settings --> and <!-- /settings -->, found no such block.');
else if (process.argv.includes('--write'))
  writeFileSync(
    readme,
    text.replace(BLOCK, () => wanted),
  );
else if (text.match(BLOCK)?.[0] !== wanted) {
  fail(
    'README.md: the table of settings is stale; `node scripts/readme-settings.mjs --write` brings it up to date.',
  );
}

function fail(reason) {
  console.error(reason);
  process.exitCode = 1;
}
