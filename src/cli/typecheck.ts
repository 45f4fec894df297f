import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Diagnostic } from '../graph/diagnostic.ts';

/** `graph.ts(3,7): error TS2322: Type …`; the indented lines that follow belong to the error. */
const ERROR = /^(?:(.+)\((\d+),(\d+)\): )?error TS\d+: (.*(?:\n .*)*)/gm;

/** Options for a graph without a tsconfig.json: its code is ES modules in any case, as in `module-hooks.ts`. */
const DEFAULTS = { target: 'ES2023', module: 'ESNext', moduleResolution: 'bundler', strict: true };

const GATEWAY = path.join(import.meta.dirname, '../../..');

const load = createRequire(import.meta.url);

/** Packages that a graph shares with the gateway. */
const CARRIED = ['graphql', 'dataloader'];

/** The gateway's sources in a checkout: findings there are dropped, as a graph's project does not set their options. */
const SOURCES = path.join(GATEWAY, 'src');

/** Options that override the project's; null removes an option that TypeScript refuses where it writes no files. */
const FORCED = {
  noEmit: true,
  declaration: false,
  declarationDir: null,
  declarationMap: false,
  emitDeclarationOnly: false,
  isolatedDeclarations: false,
  incremental: false,
  composite: false,
  tsBuildInfoFile: null,
  // The gateway's types are elsewhere than the project's sources.
  rootDir: null,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
};

const HINT = 'Found by TypeScript; with --no-types it is not asked.';

/** The message for an import of types that `sluice types` has not written yet. */
const UNWRITTEN = /^Cannot find module '.*\bschema\.types\.[jt]s'/;

/**
 * Checks the types of a graph's code with the TypeScript of the graph's project, if there is one: in a process of its
 * own, since TypeScript 7 is no library. The nearest tsconfig.json gives the settings.
 *
 * @param folder path of the graph's folder
 * @returns TypeScript's findings; none without TypeScript or graph.ts, and none if packages are in Yarn's archives,
 *   which TypeScript does not read for settings outside of the project
 */
export async function typecheck(folder: string): Promise<readonly Diagnostic[]> {
  const graph = path.resolve(folder, 'graph.ts');
  if (!existsSync(graph) || process.versions['pnp'] !== undefined) return [];
  const compiler = compilerOf(graph);
  if (compiler === undefined) return [];
  const own = nearest(graph, 'tsconfig.json');
  // tsc names the real path, and the system's folder may be a link.
  const scratch = await realpath(await mkdtemp(path.join(tmpdir(), 'sluice-types-')));
  try {
    const settings = path.join(scratch, 'tsconfig.json');
    const compilerOptions = {
      ...(own === undefined ? DEFAULTS : {}),
      typeRoots: typeRootsOf(graph),
      ...pathsOf(graph),
      ...FORCED,
    };
    await writeFile(
      settings,
      JSON.stringify({
        ...(own !== undefined && { extends: own }),
        compilerOptions,
        files: [graph],
        include: [],
      }),
    );
    const args = [compiler, '-p', settings, '--pretty', 'false'];
    const found = [...(await output(args, folder)).matchAll(ERROR)];
    return found.map(diagnosticOf(folder, settings, own)).filter(({ file }) => !isWithin(SOURCES, file));
  } finally {
    await rm(scratch, { recursive: true });
  }
}

/**
 * @param settings path of the settings that tsc got; a finding in them is caused by the project's settings
 * @param own path of the project's settings, if there are any
 */
function diagnosticOf(
  folder: string,
  settings: string,
  own = settings,
): (match: RegExpExecArray) => Diagnostic {
  return ([, named = 'graph.ts', line = 1, column = 1, message = '']) => {
    const file = path.resolve(folder, named);
    const isOfSettings = file === settings;
    return {
      severity: 'error',
      file: path.join(folder, path.relative(folder, isOfSettings ? own : file)),
      line: isOfSettings ? 1 : Number(line),
      column: isOfSettings ? 1 : Number(column),
      message,
      hint: UNWRITTEN.test(message) ? `sluice types ${folder} writes it. ${HINT}` : HINT,
    };
  };
}

function isWithin(folder: string, file: string): boolean {
  return path.resolve(file).startsWith(`${folder}${path.sep}`);
}

/** @returns path of the script `tsc`; undefined where no TypeScript is installed */
function compilerOf(graph: string): string | undefined {
  try {
    return path.join(path.dirname(createRequire(graph).resolve('typescript/package.json')), 'bin/tsc');
  } catch {
    return undefined;
  }
}

/**
 * A graph imports the gateway that checks it, and the packages that this gateway carries, wherever the graph is: see
 * `module-hooks.ts`. In a checkout, which has no declarations, `sluice` leads to the sources.
 *
 * @returns no `paths` if the graph's project finds the same packages by itself, so that the project's own `paths` hold
 */
function pathsOf(graph: string): { readonly paths?: Readonly<Record<string, readonly string[]>> } {
  const { exports } = load(path.join(GATEWAY, 'package.json')) as {
    readonly exports: Readonly<Record<string, { readonly types: string }>>;
  };
  const own = Object.entries(exports).map(([name, { types }]) => {
    const declaration = path.join(GATEWAY, types);
    const source = path.join(GATEWAY, types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts'));
    return [path.posix.join('sluice', name), [existsSync(declaration) ? declaration : source]] as const;
  });
  if (existsSync(path.join(GATEWAY, 'dist/src/index.d.ts')) && hasSamePackages(graph)) return {};
  const carried = CARRIED.flatMap((name) => {
    const folder = folderOf(name);
    // The path names a file: for an import of an ES module, TypeScript does not look into a folder.
    return [
      [name, [path.join(folder, 'index.d.ts')]] as const,
      [`${name}/*`, [path.join(folder, '*')]] as const,
    ];
  });
  return { paths: Object.fromEntries([...own, ...carried]) };
}

/**
 * Whether imports of a graph's project lead to the gateway that runs this, and to the packages that it carries.
 * Packages are looked up as TypeScript does it: TypeScript ignores NODE_PATH, which pnpm sets.
 */
function hasSamePackages(graph: string): boolean {
  const gateway = [['sluice', GATEWAY] as const, ...CARRIED.map((name) => [name, folderOf(name)] as const)];
  return gateway.every(([name, folder]) => {
    const found = nearest(graph, path.join('node_modules', name));
    return found !== undefined && realpathSync(found) === realpathSync(folder);
  });
}

/** Returns the folder of a package that the gateway carries. */
function folderOf(name: string): string {
  return path.dirname(load.resolve(`${name}/package.json`));
}

function nearest(file: string, name: string): string | undefined {
  return foldersAbove(file)
    .map((folder) => path.join(folder, name))
    .find((candidate) => existsSync(candidate));
}

/** TypeScript looks for `@types` above its settings, which are here in the system's folder for temporary files. */
function typeRootsOf(graph: string): readonly string[] {
  return foldersAbove(graph)
    .map((folder) => path.join(folder, 'node_modules/@types'))
    .filter((folder) => existsSync(folder));
}

/** From the file's own folder upwards. */
function foldersAbove(file: string): string[] {
  const folders: string[] = [];
  for (let folder = path.dirname(file); folders.at(-1) !== folder; folder = path.dirname(folder))
    folders.push(folder);
  return folders;
}

/** @throws Error if TypeScript could not be run */
function output(args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      // tsc ends with 1 or 2 if it has found errors.
      if (error !== null && !/error TS\d+/.test(stdout))
        reject(new Error(`tsc failed: ${stderr || error.message}`));
      else resolve(stdout);
    });
  });
}
