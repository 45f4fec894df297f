import { createRequire } from 'node:module';
import path from 'node:path';

/** Loads a package that `scripts/lib/peer.mjs` has fetched. Its types are not there. */
export function peerPackage(name: string): unknown {
  const { PEER_FOLDER: folder = '' } = process.env;
  return createRequire(path.join(folder, 'package.json'))(name);
}
