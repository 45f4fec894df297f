import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { createRequire, register } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../errors.ts';
import { isDefinition, type GraphDefinition } from '../api/define-graph.ts';
import { startOf, type Findings, type Place } from '../diagnostic.ts';
import { MISSING_FILE } from './missing-file.ts';
import { LOAD, type HookData } from './module-hooks.ts';

/** The default export of `graph.ts` or `graph.js`, and where its properties are defined. */
export interface GraphCode {
  readonly definition: GraphDefinition;
  /** Approximate position in the file of a property, given by its path; the file is searched, not parsed. */
  locate(...names: readonly string[]): Place;
}

/** The code of a graph that consists of a schema only. */
const NO_CODE: GraphCode = { definition: {}, locate: () => startOf('graph.ts') };

/** Number of repeated loads in this process, over all folders. */
let loads = 0;

/**
 * Loads the code of a graph. Node.js keeps the modules of a folder for as long as the process runs, even if they
 * are loaded anew.
 *
 * @param anew whether modules that have been loaded before are loaded again, as their files may have changed
 * @returns undefined if loading failed, which has been added to `findings`
 */
export async function loadCode(
  folder: string,
  findings: Findings,
  anew = false,
): Promise<GraphCode | undefined> {
  const typescript = path.join(folder, 'graph.ts');
  const javascript = path.join(folder, 'graph.js');
  const hasTypeScript = existsSync(typescript);
  if (!hasTypeScript && !existsSync(javascript)) return NO_CODE;
  const file = hasTypeScript ? typescript : javascript;
  if (hasTypeScript) process.setSourceMapsEnabled(true);
  try {
    const real = await realpath(folder);
    registerHooks(real);
    // Node.js remembers where a link has led before, so the link is resolved here.
    const url = pathToFileURL(await realpath(path.join(real, path.basename(file))));
    if (anew) {
      url.searchParams.set(LOAD, String((loads += 1)));
      forgetCommonJs(real);
    }
    const { default: exported } = (await import(url.href)) as { default?: unknown };
    if (isDefinition(exported)) {
      return { definition: exported, locate: locator(file, await readFile(file, 'utf8')) };
    }
    const message = `expected the default export to come from defineGraph, got ${exported === undefined ? 'none' : typeof exported}`;
    findings.error(startOf(file), message, 'Write export default defineGraph({ … }).');
  } catch (error) {
    const { place, message } = await explain(error, folder, file);
    const hint = message.startsWith(MISSING_FILE)
      ? 'An import names a file as it is called, as Node.js wants it.'
      : 'It is run whenever the graph is loaded.';
    findings.error(place, `the code of the graph can't be loaded: ${message}`, hint);
  }
  return undefined;
}

/** Folders whose hooks are registered. A process has one graph; tests load several. */
const registered = new Set<string>();

function registerHooks(folder: string): void {
  if (registered.has(folder)) return;
  registered.add(folder);
  const data: HookData = { folder: `${pathToFileURL(folder).href}/`, gateway: import.meta.url };
  register(new URL('./module-hooks.js', import.meta.url), { data });
}

/** Removes the graph's own CommonJS modules from the cache: its keys are paths, so a new URL does not reload them. */
function forgetCommonJs(folder: string): void {
  const { cache } = createRequire(import.meta.url);
  for (const file of Object.keys(cache)) {
    if (file.startsWith(`${folder}${path.sep}`) && !file.includes('/node_modules/')) delete cache[file];
  }
}

/** Finds an error's position in the graph folder by its stack, and removes the position from the message. */
async function explain(
  error: unknown,
  folder: string,
  file: string,
): Promise<{ place: Place; message: string }> {
  const real = await realpath(folder);
  const message = messageOf(error);
  const text = error instanceof Error ? `${message}\n${error.stack ?? ''}` : message;
  for (const root of [pathToFileURL(real).href, real]) {
    const start = text.indexOf(`${root}/`);
    const found =
      start < 0
        ? null
        : /^(.+?\.[jt]s)(?:\?[^\s:]*)?:(\d+)(?::(\d+))?/.exec(text.slice(start + root.length + 1));
    if (found === null) continue;
    const [whole, name = '', line, column] = found;
    const place = { file: path.join(folder, name), line: Number(line), column: Number(column ?? 1) };
    return { place, message: message.replace(`${root}/${whole}: `, '') };
  }
  return { place: startOf(file), message };
}

function locator(file: string, text: string): GraphCode['locate'] {
  return (...names) => {
    let found = 0;
    for (const name of names) {
      const escaped = name.replace(/[^\w]/g, String.raw`\$&`);
      const property = new RegExp(`(?<![\\w$.-])${escaped}(?=['"]?\\s*[:(,}])`, 'g');
      property.lastIndex = found;
      found = property.exec(text)?.index ?? found;
    }
    const before = text.slice(0, found).split('\n');
    return { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  };
}
