/**
 * Compares generated parts of docs/reference with the code. Each part stands between `<!-- name -->` and
 * `<!-- /name -->`. `--write` updates them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { print } from 'graphql';
import { format, resolveConfig } from 'prettier';
import { ensureAll, root } from './ensure.mjs';
import { readArguments } from './lib/arguments.mjs';

const { values } = readArguments('Usage: node scripts/docs-tables.mjs [--write]', {
  options: { write: { type: 'boolean' } },
});
await ensureAll();
const { configMarkdown } = await import('../dist/src/config/config.js');
const { withGatewaySchema } = await import('../dist/src/graph/directives/definitions.js');
const { Metrics } = await import('../dist/src/metrics.js');

/** Blocks by the name of their page in docs/reference, which is also the name of the block. */
const BLOCKS = {
  settings: configMarkdown(),
  metrics: metricsMarkdown(new Metrics()),
  directives: directivesMarkdown(),
};

for (const [name, markdown] of Object.entries(BLOCKS)) {
  const page = path.join(root, 'docs/reference', `${name}.md`);
  const before = readFileSync(page, 'utf8');
  const after = await withBlock(page, before, name, markdown);
  if (after === before) continue;
  if (values.write) writeFileSync(page, after);
  else fail(`${page} is stale; \`node scripts/docs-tables.mjs --write\` brings it up to date.`);
}

async function withBlock(page, text, name, markdown) {
  const block = new RegExp(`(?<=<!-- ${name} -->\\n)[^]*(?=<!-- /${name} -->)`);
  if (!block.test(text))
    fail(`${page}: expected <!-- ${name} --> and <!-- /${name} -->, found no such block.`);
  // Formatted like the page: otherwise `yarn format` would make the block stale.
  const formatted = await format(markdown, { ...(await resolveConfig(page)), parser: 'markdown' });
  return text.replace(block, () => `\n${formatted}\n`);
}

function metricsMarkdown({ registry }) {
  const rows = registry.getMetricsAsArray().map(({ name, help, labelNames, type }) => {
    const labels = labelNames.length > 0 ? `{${labelNames.join(', ')}}` : '';
    return `| \`${name}${labels}\` | ${type} | ${help} |`;
  });
  return ['| metric | kind | what it counts |', '|---|---|---|', ...rows].join('\n');
}

function directivesMarkdown() {
  const { definitions } = withGatewaySchema({ kind: 'Document', definitions: [] });
  const own = definitions.filter(({ kind }) => kind !== 'ObjectTypeDefinition');
  return `\`\`\`graphql\n${own.map((definition) => print(definition)).join('\n\n')}\n\`\`\``;
}

/** @returns {never} */
function fail(reason) {
  console.error(reason);
  process.exit(1);
}
