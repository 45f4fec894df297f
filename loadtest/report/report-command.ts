import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defineCommand, UsageError } from '../command.ts';
import { KINDS, readResults } from './result-files.ts';
import { resultsMarkdown, type Notes } from './results-markdown.ts';

/** The folder of the sources, not of what was built from them. */
const FOLDER = path.resolve(import.meta.dirname, '../../../loadtest');

export const command = defineCommand({
  summary: 'writes RESULTS.md from files that the other commands have saved, and from loadtest/notes',
  positionals: '<file …>',
  needsServices: false,
  options: {
    out: { type: 'string', help: 'file for the Markdown (loadtest/RESULTS.md)' },
  },
  prepare({ values: { out = path.join(FOLDER, 'RESULTS.md') }, positionals }) {
    if (positionals.length === 0) {
      throw new UsageError('expected one or more files of results (JSON), got none');
    }
    return async () => {
      const files = await Promise.all(
        positionals.map(async (name) => ({ name, content: await readFile(name, 'utf8') })),
      );
      const markdown = resultsMarkdown(readResults(files), await readNotes());
      await writeFile(out, await formatted(markdown));
      console.log(path.relative(process.cwd(), path.resolve(out)));
    };
  },
});

/** Reads `notes/introduction.md`, and `notes/<kind>.md` for each kind of results. */
async function readNotes(): Promise<Notes> {
  const found = await Promise.all(
    (['introduction', ...KINDS] as const).map(async (name) => {
      const text = await readFile(path.join(FOLDER, 'notes', `${name}.md`), 'utf8').catch(missing);
      return [name, text] as const;
    }),
  );
  return Object.fromEntries(found.filter(([, text]) => text !== undefined));
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Formats RESULTS.md like the rest of the repository: otherwise `yarn format` would change this generated file. */
async function formatted(markdown: string): Promise<string> {
  // Prettier is a dev dependency that no other command needs.
  const { format, resolveConfig } = await import('prettier');
  const config = await resolveConfig(path.join(FOLDER, 'RESULTS.md'));
  return format(markdown, { ...config, parser: 'markdown' });
}
