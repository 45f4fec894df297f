import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, SluiceError } from '../../errors.ts';
import { compileTypeScript, isBabelInstalled } from './babel.ts';

/**
 * Compiles every TypeScript file of a graph folder to JavaScript beside it, for images without Babel.
 *
 * @param folder path of the graph folder
 * @returns paths of the written files
 * @throws SluiceError BAD_GRAPH if Babel is not installed, the folder can't be read, or a file has a syntax error;
 *   then no file has been written
 */
export async function buildGraph(folder: string): Promise<string[]> {
  if (!isBabelInstalled()) {
    const message =
      'building a graph needs Babel, which is a dev dependency of sluice and not installed here: build it before the image is made';
    throw new SluiceError('BAD_GRAPH', message);
  }
  const sources = await sourcesBelow(folder);
  const outputs = await Promise.all(
    sources.map(async (source) => ({
      file: source.replace(/ts$/, 'js'),
      text: await compileTypeScript(source, true),
    })),
  );
  await Promise.all(outputs.map(({ file, text }) => writeFile(file, `${text}\n`)));
  return outputs.map(({ file }) => file);
}

async function sourcesBelow(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const below = await Promise.all(
      entries
        .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
        .map((entry) => sourcesBelow(path.join(folder, entry.name))),
    );
    const own = entries.filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.d.ts'));
    return [...own.map(({ name }) => path.join(folder, name)), ...below.flat()].toSorted();
  } catch (error) {
    throw new SluiceError('BAD_GRAPH', `the graph can't be built: ${messageOf(error)}`, { cause: error });
  }
}
