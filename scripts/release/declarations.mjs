/** TypeScript declarations of the package's exports, and of nothing else. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from '../ensure.mjs';

const TSC = path.join(root, 'node_modules/typescript/bin/tsc');

/** An import of a declaration. */
const IMPORTED = /(\b(?:from|import)\s*\(?\s*)(['"])(\.[^'"]+)\2/g;

/**
 * @param entries paths of TypeScript files
 * @param folder the declarations are written here, at the same paths
 * @param from the folder from which these paths begin
 */
export async function writeDeclarations(entries, folder, from = root) {
  // Below the root, so that tsc finds the packages.
  const parent = path.join(root, '.release');
  await mkdir(parent, { recursive: true });
  const all = await mkdtemp(path.join(parent, 'types-'));
  try {
    await compile(entries, all, from);
    const written = new Set();
    const pending = entries.map(declarationOf);
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      if (written.has(file)) continue;
      written.add(file);
      const text = await readFile(path.join(all, file), 'utf8');
      for (const [, , , imported] of text.matchAll(IMPORTED)) {
        pending.push(declarationOf(path.join(path.dirname(file), imported)));
      }
      const target = path.join(folder, file);
      await mkdir(path.dirname(target), { recursive: true });
      // tsc leaves the endings as they are, and users' compilers would not find a .ts.
      await writeFile(
        target,
        text.replace(
          IMPORTED,
          (_, before, quote, name) => before + quote + name.replace(/\.ts$/, '.js') + quote,
        ),
      );
    }
  } finally {
    await rm(all, { recursive: true });
  }
}

const declarationOf = (file) => file.replace(/\.ts$/, '.d.ts');

async function compile(entries, outDir, from) {
  const config = path.join(outDir, 'tsconfig.json');
  // Declarations marked @internal would bring those of half the gateway.
  const compilerOptions = { outDir, rootDir: from, noEmit: false, stripInternal: true };
  const files = entries.map((entry) => path.join(from, entry));
  await writeFile(
    config,
    JSON.stringify({ extends: path.join(root, 'tsconfig.json'), compilerOptions, files, include: [] }),
  );
  try {
    await promisify(execFile)(process.execPath, [TSC, '-p', config], { cwd: root });
  } catch (error) {
    throw new Error(`expected declarations, got:\n${error.stdout}`, { cause: error });
  }
}
