/**
 * Module hooks for graph folders. Node.js runs them on a thread of their own, which it starts when they are registered;
 * they are not registered for a graph without code.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileTypeScript } from './babel.ts';
import { missingFile } from './missing-file.ts';

export interface HookData {
  /** URL of the folder, with a slash at its end. */
  readonly folder: string;
  /** URL of a module of the gateway. */
  readonly gateway: string;
}

/** Packages that a graph must share with the gateway: a copy of graphql refuses types and errors of another copy. */
const SHARED = /^(sluice|graphql|dataloader)(\/|$)/;

/** Parameter of modules' URLs that tells one load of a graph from the next. */
export const LOAD = 'load';

const folders = new Set<string>();
let gateway = import.meta.url;

export const initialize: InitializeHook<HookData> = (data) => {
  folders.add(data.folder);
  gateway = data.gateway;
};

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const parent = context.parentURL;
  if (parent === undefined || !isInGraph(parent)) return nextResolve(specifier, context);
  if (SHARED.test(specifier)) return nextResolve(specifier, { ...context, parentURL: gateway });
  if (!isGraphCode(parent)) return nextResolve(specifier, context);
  const target = sourceOf(specifier, parent);
  if (isRelative(specifier) && !isFile(new URL(target, parent))) throw missingFile(specifier, parent);
  const resolved = await nextResolve(targetOf(target, parent), context);
  return isGraphCode(resolved.url) ? { ...resolved, url: ofSameLoad(resolved.url, parent) } : resolved;
};

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!isGraphCode(url) || !(isTypeScript(url) || isJavaScript(url))) return nextLoad(url, context);
  // The file is an ES module, even if a package.json above the folder says otherwise, which Yarn's hooks would read.
  const file = fileURLToPath(url);
  const source = await (isTypeScript(url) ? compileTypeScript(file, false) : readFile(file));
  return { format: 'module', source, shortCircuit: true };
};

function isRelative(specifier: string): boolean {
  return /^\.{1,2}\//.test(specifier);
}

function isFile(url: URL): boolean {
  return statSync(url, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isInGraph(url: string): boolean {
  return [...folders].some((folder) => url.startsWith(folder));
}

/** Whether a module is the graph's own code, not a package that is installed in the graph folder. */
function isGraphCode(url: string): boolean {
  return isInGraph(url) && !url.includes('/node_modules/');
}

/** Returns where a link leads now: Node.js remembers where the link has led before. */
function targetOf(specifier: string, parent: string): string {
  if (!isRelative(specifier)) return specifier;
  const url = new URL(specifier, parent);
  return existsSync(url) ? pathToFileURL(realpathSync(url)).href : specifier;
}

/** Gives a module the load of its parent, so that both are loaded anew together: see `loadCode`. */
function ofSameLoad(url: string, parent: string): string {
  const which = new URL(parent).searchParams.get(LOAD);
  if (which === null) return url;
  const own = new URL(url);
  own.searchParams.set(LOAD, which);
  return own.href;
}

function isTypeScript(url: string): boolean {
  return new URL(url).pathname.endsWith('.ts');
}

function isJavaScript(url: string): boolean {
  return new URL(url).pathname.endsWith('.js');
}

/** In TypeScript, `./x.js` may mean `./x.ts`; if both exist, `./x.ts` is the source of `./x.js`. */
function sourceOf(specifier: string, parent: string): string {
  if (!isTypeScript(parent) || !/^\.{1,2}\/.*\.js$/.test(specifier)) return specifier;
  const source = specifier.replace(/js$/, 'ts');
  return existsSync(new URL(source, parent)) ? source : specifier;
}
