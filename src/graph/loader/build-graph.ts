import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, SluiceError } from '../../errors.ts';
import { compileTypeScript } from './babel.ts';

/** Folders and files that a gateway does not load: hidden or built ones, packages, tests, types, settings of tools. */
const LEFT_OUT =
  /^(\..*|node_modules|dist|tests?|__tests__|.+\.(test|spec|config)\.[cm]?[jt]s|.+\.d\.ts|schema\.types\.ts)$/;

/** Files of a graph. A package.json belongs to the folder, not to the graph. */
const PARTS = /^(?!package(-lock)?\.json$|tsconfig.*\.json$).+\.(ts|[cm]?js|json|graphql|avsc|proto)$/;

/**
 * Writes a graph as it is to be deployed: TypeScript compiled to JavaScript, all else copied, tests left out.
 *
 * @param folder path of the graph's folder
 * @param output path of the folder to write to; by default `dist` in the graph's folder
 * @returns paths of the written files
 * @throws SluiceError BAD_GRAPH if the folder can't be read, or a file has a syntax error; then no file has been written
 */
export async function buildGraph(folder: string, output = path.join(folder, 'dist')): Promise<string[]> {
  if (isWithin(path.resolve(folder), path.resolve(output))) {
    const message = `expected a folder for the output that does not hold the graph, got ${output}`;
    throw new SluiceError('BAD_GRAPH', message);
  }
  const sources = await partsBelow(folder, path.resolve(output));
  const compiled = await Promise.all(
    sources.map((source) => (isTypeScript(source) ? compileTypeScript(source, true) : undefined)),
  );
  const written = sources.map((source) => {
    const relative = path.relative(folder, source);
    return path.join(output, isTypeScript(source) ? relative.replace(/ts$/, 'js') : relative);
  });
  for (const [index, target] of written.entries()) {
    await mkdir(path.dirname(target), { recursive: true });
    const text = compiled[index];
    await (text === undefined ? cp(sources[index] ?? '', target) : writeFile(target, `${text}\n`));
  }
  return written;
}

const isTypeScript = (file: string): boolean => file.endsWith('.ts');

function isWithin(folder: string, other: string): boolean {
  return !path.relative(other, folder).startsWith('..');
}

async function partsBelow(folder: string, output: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const named = entries.filter(({ name }) => !LEFT_OUT.test(name));
    const parts = await Promise.all(
      named.map(async (entry) => {
        const file = path.join(folder, entry.name);
        if (entry.isDirectory()) return path.resolve(file) === output ? [] : partsBelow(file, output);
        return PARTS.test(entry.name) ? [file] : [];
      }),
    );
    return parts.flat().toSorted();
  } catch (error) {
    throw new SluiceError('BAD_GRAPH', `the graph can't be built: ${messageOf(error)}`, { cause: error });
  }
}
