import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Diagnostic } from '../graph/diagnostic.ts';

/** `graph.ts(3,7): error TS2322: Type …`; what follows it on indented lines belongs to it. */
const ERROR = /^(?:(.+)\((\d+),(\d+)\): )?error TS\d+: (.*(?:\n .*)*)/gm;

/** The options for a graph without a tsconfig.json: its code is ES modules, even if a package.json says otherwise, as in `module-hooks.ts`. */
const DEFAULTS = { target: 'ES2023', module: 'ESNext', moduleResolution: 'bundler', strict: true };

const GATEWAY = path.join(import.meta.dirname, '../../..');

const load = createRequire(import.meta.url);

/** Packages that a graph shares with the gateway. */
const CARRIED = ['graphql', 'dataloader'];

/** The sources of a checkout: how they are checked is not up to a graph's project. */
const SOURCES = path.join(GATEWAY, 'src');

/** Takes precedence over the project's settings; null takes out what TypeScript refuses where nothing is written. */
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

/** An import of what `sluice types` writes, where it has not been run. */
const UNWRITTEN = /^Cannot find module '.*\bschema\.types\.[jt]s'/;

/**
 * Checks the types of a graph's code with the TypeScript of the graph's project, if there is one: in a process of its
 * own, since TypeScript 7 is no library. The settings are those of the nearest tsconfig.json.
 *
 * @param folder path of the graph's
 * @returns what TypeScript finds; nothing where there is none, or no graph.ts, or where packages are in Yarn's archives, of
 *   which TypeScript reads none for settings outside of the project
 */
export async function typecheck(folder: string): Promise<readonly Diagnostic[]> {
  const graph = path.resolve(folder, 'graph.ts');
  if (!existsSync(graph) || process.versions['pnp'] !== undefined) return [];
  const compiler = compilerOf(graph);
  if (compiler === undefined) return [];
  const own = nearest(graph, 'tsconfig.json');
  // As tsc names it, too: the system's folder may be a link.
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
 * @param settings path of those that tsc got; what it finds in them comes of the project's
 * @param own path of the project's, if it has any
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
 * What a graph imports of the gateway, and with it, is the gateway's own, wherever the graph is: see `module-hooks.ts`. In a
 * checkout, which has no declarations, `sluice` is its sources.
 *
 * @returns no `paths` where the graph's project finds the same by itself, so that `paths` of its own hold
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
    // Named as a file: TypeScript looks for none in a folder that an ES module imports.
    return [
      [name, [path.join(folder, 'index.d.ts')]] as const,
      [`${name}/*`, [path.join(folder, '*')]] as const,
    ];
  });
  return { paths: Object.fromEntries([...own, ...carried]) };
}

/**
 * Whether imports of a graph's project lead to the gateway that runs this, and to the packages that it carries. As TypeScript
 * looks them up: NODE_PATH, which pnpm sets, says nothing to it.
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

/** TypeScript looks for `@types` above its settings, which are in a folder of the system here. */
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
      // It ends with 1 or 2 where it has found errors.
      if (error !== null && !/error TS\d+/.test(stdout))
        reject(new Error(`tsc failed: ${stderr || error.message}`));
      else resolve(stdout);
    });
  });
}
