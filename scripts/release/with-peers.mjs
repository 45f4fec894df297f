/**
 * `node with-peers.mjs`: makes the optional peers in package.json dependencies, in the versions that are tried here. The
 * package leaves them to those who want them, a container image has them all.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

if (import.meta.filename === process.argv[1]) {
  // Not by lib/arguments.mjs: the image has this file alone.
  parseArgs();
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync('package.json', `${JSON.stringify(withPeers(manifest), undefined, 2)}\n`);
}

export function withPeers(manifest) {
  const { dependencies, devDependencies, peerDependencies, peerDependenciesMeta: _, ...rest } = manifest;
  const peers = Object.keys(peerDependencies);
  const others = Object.entries(devDependencies).filter(([name]) => !peers.includes(name));
  return {
    ...rest,
    dependencies: {
      ...dependencies,
      ...Object.fromEntries(peers.map((name) => [name, devDependencies[name]])),
    },
    devDependencies: Object.fromEntries(others),
  };
}
