/**
 * Packages that go into the release, each as one file, instead of being installed with it:
 * kafkajs as it is patched here, which no registry has; graphql-redis-subscriptions, which would bring another ioredis;
 * graphql-jit, whose version is exact anyhow and which would bring twenty packages; @platformatic/kafka, whose version
 * is exact too, and which would bring packages that package managers refuse for Node.js 20, although it runs there;
 * graphql-ws and graphql-http, which would take the project's graphql even if the gateway has another one.
 */
import { build } from 'esbuild';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../ensure.mjs';

const VENDORED = {
  kafkajs: 'module.exports = require("kafkajs");',
  'graphql-redis-subscriptions': 'export { RedisPubSub } from "graphql-redis-subscriptions";',
  'graphql-http': 'export { createHandler, parseRequestParams } from "graphql-http";',
  'graphql-ws': 'export { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer } from "graphql-ws";',
  'graphql-jit': 'export { compileQuery, isCompiledQuery } from "graphql-jit";',
  '@platformatic/kafka': `export {
    AuthenticationError, Connection, NetworkError, ProduceAcks, Reader, ResponseError, TimeoutError, Writer,
    apiVersionsV3, consumerGroupDescribeV0, consumerGroupHeartbeatV1, deleteGroupsV2, describeGroupsV5, fetchV13,
    findCoordinatorV4, heartbeatV4, joinGroupV9, leaveGroupV5, listOffsetsV7, metadataV12, murmur2, offsetCommitV8,
    offsetCommitV9, offsetFetchV8, produceV9, saslScramSha, syncGroupV5,
  } from "@platformatic/kafka";`,
};

/** Packages that must exist only once, or are installed in any case; and supports-color, which debug can do without. */
const EXTERNAL = ['@node-rs/crc32', 'graphql', 'ioredis', 'lz4-napi', 'snappy', 'supports-color'];

/** Replacements, by name, of modules that vendored packages need only in part. */
const REPLACED = {
  // Serves an option of graphql-jit that is not used (customJSONSerializer), and is two thirds of its file.
  'fast-json-stringify': '',
  // Checks options of Admin, Consumer and Producer, which are not vendored.
  'ajv/dist/2020.js': 'export class Ajv2020 { addKeyword() {} }',
  // Has codecs and checksums in WebAssembly, for which the gateway has native packages.
  '@platformatic/wasm-utils': `
    export { crc32c } from "@node-rs/crc32";
    export { compressFrameSync as lz4Compress, decompressFrameSync as lz4Decompress } from "lz4-napi";
    export { compressSync as snappyCompress, uncompressSync as snappyDecompress } from "snappy";`,
};

const OF_PLATFORMATIC = /node_modules\/@platformatic\/kafka\//;

/** @type {import('esbuild').Plugin} */
const lessOfThem = {
  name: 'less-of-them',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^[^.]/ }, ({ path: name }) =>
      Object.hasOwn(REPLACED, name) ? { path: name, namespace: 'replaced' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'replaced' }, ({ path: name }) => ({
      contents: REPLACED[name],
      resolveDir: root,
    }));
    // Its package.json does not declare this, and calls make its 200 requests: all would stay, with all clients.
    onResolve({ filter: /^\./ }, ({ path: file, resolveDir, importer }) =>
      OF_PLATFORMATIC.test(importer) ? { path: path.join(resolveDir, file), sideEffects: false } : undefined,
    );
  },
};

export const vendored = Object.keys(VENDORED);

/**
 * Writes a file for each package, and their licences.
 *
 * @returns the `imports` of package.json that lead to these files
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
      plugins: [lessOfThem],
      // createRequire also takes a path.
      define: { 'import.meta.url': '__filename' },
      legalComments: 'none',
      minifyWhitespace: true,
      minifySyntax: true,
      metafile: true,
      logLevel: 'error',
    });
    const [{ inputs }] = Object.values(metafile.outputs);
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
      const [found] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
      if (found !== undefined && bytesInOutput > 0) packages.add(found);
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
