/**
 * `node with-peers.mjs`: turns the optional peers in package.json into dependencies, in the versions that are tested
 * here. Users of the package install the peers that they want; a container image has all of them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

if (import.meta.filename === process.argv[1]) {
  // Does not use lib/arguments.mjs: the image has only this file.
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
