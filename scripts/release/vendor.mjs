/**
 * Packages that go into the release instead of being installed with it, each as one file:
 * kafkajs as it is patched here, which a registry does not have; graphql-redis-subscriptions, which would bring an ioredis of
 * its own; graphql-jit, whose version is exact anyhow and which would bring twenty packages.
 */
import { build } from 'esbuild';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../ensure.mjs';

const VENDORED = {
  kafkajs: 'module.exports = require("kafkajs");',
  'graphql-redis-subscriptions': 'export { RedisPubSub } from "graphql-redis-subscriptions";',
  'graphql-jit': 'export { compileQuery, isCompiledQuery } from "graphql-jit";',
};

/** Of which there must be one only, or which are installed in any case. */
const EXTERNAL = ['graphql', 'ioredis'];

export const vendored = Object.keys(VENDORED);

/**
 * Writes a file for each, and their licences.
 *
 * @returns the `imports` of package.json that lead to them
 */
export async function vendor(folder, prefix) {
  const packages = new Set();
  for (const [name, contents] of Object.entries(VENDORED)) {
    const { metafile } = await build({
      stdin: { contents, resolveDir: root },
      outfile: path.join(folder, `${name}.cjs`),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20.19',
      external: EXTERNAL,
      legalComments: 'none',
      minifyWhitespace: true,
      minifySyntax: true,
      metafile: true,
      logLevel: 'error',
    });
    for (const input of Object.keys(metafile.inputs)) {
      const [found] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
      if (found !== undefined) packages.add(found);
    }
  }
  const licences = await Promise.all([...packages].toSorted().map(licenceOf));
  await writeFile(
    path.join(folder, 'LICENSES.md'),
    `# Licences of what is in this folder\n\n${licences.join('\n')}`,
  );
  return Object.fromEntries(vendored.map((name) => [`#${name}`, `${prefix}/${name}.cjs`]));
}

async function licenceOf(folder) {
  const absolute = path.join(root, folder);
  const { name, version, license } = JSON.parse(await readFile(path.join(absolute, 'package.json'), 'utf8'));
  const file = (await readdir(absolute)).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined && license === undefined)
    throw new Error(`expected a licence of ${name}, found none`);
  const text = file === undefined ? '' : await readFile(path.join(absolute, file), 'utf8');
  return `## ${name} ${version} (${license})\n\n${text.trim()}\n`;
}
