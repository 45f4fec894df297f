import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../../..');

/** A package manager: what a user types, as the words of a command. */
export interface Manager {
  readonly name: string;
  /** To be followed by the tarball's path. */
  readonly add: (tarball: string) => readonly string[];
  /** To be followed by names of packages for development. */
  readonly addDev: readonly string[];
  /** To be followed by `sluice` and its arguments. */
  readonly run: readonly string[];
}

/** The Yarn that is committed here; it installs without node_modules. */
const YARN = [process.execPath, path.join(ROOT, '.yarn/releases/yarn-4.18.1.cjs')];

const PNPM = ['npx', '--yes', 'pnpm@10.34.9'];

export const NPM: Manager = {
  name: 'npm',
  add: (tarball) => ['npm', 'install', '--no-audit', '--no-fund', tarball],
  addDev: ['npm', 'install', '--no-audit', '--no-fund', '--save-dev'],
  run: ['npx', '--no'],
};

export const MANAGERS: readonly Manager[] = [
  NPM,
  {
    name: 'pnpm',
    add: (tarball) => [...PNPM, 'add', tarball],
    addDev: [...PNPM, 'add', '--save-dev'],
    run: [...PNPM, 'exec'],
  },
  {
    name: 'Yarn',
    add: (tarball) => [...YARN, 'add', `sluice@file:${tarball}`],
    addDev: [...YARN, 'add', '--dev'],
    run: YARN,
  },
];
