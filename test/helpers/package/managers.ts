import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../../..');

/** A package manager: what a user types, as the words of a command. */
export interface Manager {
  readonly name: string;
  /** To be followed by names of other packages. */
  readonly add: (tarball: string) => readonly string[];
  /** To be followed by `sluice` and its arguments. */
  readonly run: readonly string[];
}

/** The Yarn that is committed here; it installs without node_modules. */
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
