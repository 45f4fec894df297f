/**
 * Compares the tables in README.md with what the gateway says of itself: the settings, between `<!-- settings -->` and
 * `<!-- /settings -->`, and the metrics, likewise. `--write` brings them up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ensureAll, root } from './ensure.mjs';

const readme = path.join(root, 'README.md');

await ensureAll();
const { configMarkdown } = await import('../dist/src/config.js');
const { Metrics } = await import('../dist/src/metrics.js');

const before = readFileSync(readme, 'utf8');
let after = before;
await replaceBlock('settings', configMarkdown());
await replaceBlock('metrics', await metricsMarkdown(new Metrics()));
if (process.argv.includes('--write')) writeFileSync(readme, after);
else if (after !== before) {
  fail('README.md: a table is stale; `node scripts/readme-tables.mjs --write` brings it up to date.');
}

async function replaceBlock(name, markdown) {
  const block = new RegExp(`(?<=<!-- ${name} -->\\n)[^]*(?=<!-- /${name} -->)`);
  if (!block.test(after))
    fail(`README.md: expected <!-- ${name} --> and <!-- /${name} -->, found no such block.`);
  // Formatted as the README is, or `yarn format` would make it stale.
  const formatted = await format(markdown, { ...(await resolveConfig(readme)), parser: 'markdown' });
  after = after.replace(block, () => `\n${formatted}\n`);
}

async function metricsMarkdown({ registry }) {
  const rows = registry.getMetricsAsArray().map(({ name, help, labelNames, type }) => {
    const labels = labelNames.length > 0 ? `{${labelNames.join(', ')}}` : '';
    return `| \`${name}${labels}\` | ${type} | ${help} |`;
  });
  return ['| metric | kind | what it counts |', '|---|---|---|', ...rows].join('\n');
}

function fail(reason) {
  console.error(reason);
  process.exit(1);
}
