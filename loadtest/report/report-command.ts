/** `yarn loadtest:results <files…>`: writes RESULTS.md from what the load test and the others have written as JSON. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { KINDS, readResults } from './result-files.ts';
import { resultsMarkdown, type Notes } from './results-markdown.ts';

/** Of the sources, not of what was built from them. */
const folder = path.resolve(import.meta.dirname, '../../../loadtest');

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: path.join(folder, 'RESULTS.md') } },
});

async function main(): Promise<void> {
  if (positionals.length === 0) {
    throw new Error('Expected one or more files of results (JSON), got none.');
  }
  const files = await Promise.all(
    positionals.map(async (name) => ({ name, content: await readFile(name, 'utf8') })),
  );
  const markdown = resultsMarkdown(readResults(files), await notes());
  // Formatted as the rest of the repository is, or `yarn format` would change what the tool alone may.
  const config = await resolveConfig(path.join(folder, 'RESULTS.md'));
  await writeFile(values.out, await format(markdown, { ...config, parser: 'markdown' }));
  console.log(path.relative(process.cwd(), values.out));
}

/** `notes/introduction.md`, and `notes/<kind>.md` for each kind of results. */
async function notes(): Promise<Notes> {
  const found = await Promise.all(
    (['introduction', ...KINDS] as const).map(async (name) => {
      const text = await readFile(path.join(folder, 'notes', `${name}.md`), 'utf8').catch(missing);
      return [name, text] as const;
    }),
  );
  return Object.fromEntries(found.filter(([, text]) => text !== undefined));
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
