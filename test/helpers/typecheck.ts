import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.join(import.meta.dirname, '../../..');

const TSC = path.join(ROOT, 'node_modules/typescript/bin/tsc');

/** The settings of a project: strict, without further checks. */
const COMPILER_OPTIONS = {
  target: 'ES2023',
  lib: ['ES2023'],
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  paths: {
    sluice: [path.join(ROOT, 'src/index.ts')],
    'sluice/testing': [path.join(ROOT, 'src/testing/testing.ts')],
  },
};

/** Gives a folder this repository's packages, and settings of TypeScript. */
export async function asProject(folder: string): Promise<void> {
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const settings = { compilerOptions: COMPILER_OPTIONS, include: ['.'] };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(settings));
}

/** Checks the types of all TypeScript in a folder that {@link asProject} has set up. @returns tsc's output */
export async function typecheck(folder: string): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, [TSC, '-p', folder], { cwd: folder })).stdout;
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (stdout === undefined || stdout === '') throw error;
    return stdout;
  }
}
