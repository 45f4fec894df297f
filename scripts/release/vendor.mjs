/**
 * Packages that go into the release instead of being installed with it, each as one file:
 * kafkajs as it is patched here, which a registry does not have; graphql-redis-subscriptions, which would bring an ioredis of
 * its own; graphql-jit, whose version is exact anyhow and which would bring twenty packages; @platformatic/kafka, whose
 * version is exact too, and which would bring packages that package managers refuse for Node.js 20, on which it runs;
 * graphql-ws and graphql-http, which would take the graphql of the project, where that has another than the gateway.
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

/** Of which there must be one only, or which are installed in any case; supports-color is left out: debug tries for it. */
const EXTERNAL = ['@node-rs/crc32', 'graphql', 'ioredis', 'lz4-napi', 'snappy', 'supports-color'];

/** By name, modules of which what is vendored needs less than they are. */
const REPLACED = {
  // For an option of graphql-jit that is not used (customJSONSerializer): two thirds of its file.
  'fast-json-stringify': '',
  // Checks options of Admin, Consumer and Producer, none of which is vendored.
  'ajv/dist/2020.js': 'export class Ajv2020 { addKeyword() {} }',
  // Codecs and checksums in WebAssembly, which the gateway has in native packages.
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
    // Its package.json does not say so, and each of its 200 requests is made by a call: all would stay, and all clients.
    onResolve({ filter: /^\./ }, ({ path: file, resolveDir, importer }) =>
      OF_PLATFORMATIC.test(importer) ? { path: path.join(resolveDir, file), sideEffects: false } : undefined,
    );
  },
};

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
      plugins: [lessOfThem],
      // For createRequire, which takes paths as well.
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
