import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../../..');

/** A package manager, as words of commands that a user types. */
export interface Manager {
  readonly name: string;
  /** Names of further packages may follow. */
  readonly add: (tarball: string) => readonly string[];
  /** `sluice` and its arguments follow. */
  readonly run: readonly string[];
}

/** The Yarn of this repository; it installs without node_modules. */
const YARN_PROGRAM = [process.execPath, path.join(ROOT, '.yarn/releases/yarn-4.18.1.cjs')];

const PNPM_PROGRAM = ['npx', '--yes', 'pnpm@10.34.9'];

export const NPM: Manager = {
  name: 'npm',
  add: (tarball) => ['npm', 'install', '--no-audit', '--no-fund', tarball],
  run: ['npx', '--no'],
};

export const PNPM: Manager = {
  name: 'pnpm',
  add: (tarball) => [...PNPM_PROGRAM, 'add', tarball],
  run: [...PNPM_PROGRAM, 'exec'],
};

export const YARN: Manager = {
  name: 'Yarn',
  add: (tarball) => [...YARN_PROGRAM, 'add', `sluice@file:${tarball}`],
  run: YARN_PROGRAM,
};
