import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from '../docs/markdown.ts';

/** `CLIENTS_TABLE=write npm run test:all -- clients` writes the tables; otherwise they must be what the tests have found. */
const WRITES = process.env['CLIENTS_TABLE'] === 'write';

/**
 * Compares a table with the one between `<!-- block -->` and `<!-- /block -->` on a page.
 *
 * @param columns as they are headed
 */
export async function holdTable(
  block: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  page = 'docs/reference/clients.md',
): Promise<void> {
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const file = path.join(ROOT, page);
  const options = { ...(await resolveConfig(file)), parser: 'markdown' };
  const table = await format(lines.join('\n'), options);
  const text = await readFile(file, 'utf8');
  const parts = new RegExp(`(<!-- ${block} -->\\n)([^]*)(<!-- /${block} -->)`).exec(text);
  assert.ok(parts !== null, `expected <!-- ${block} --> and <!-- /${block} --> in ${page}`);
  const [whole, begin = '', before, end = ''] = parts;
  const found = `\n${table}\n`;
  if (WRITES)
    await writeFile(
      file,
      text.replace(whole, () => begin + found + end),
    );
  else assert.equal(before, found, `${page} is stale: CLIENTS_TABLE=write npm run test:all -- clients`);
}
