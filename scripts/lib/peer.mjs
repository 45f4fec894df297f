/**
 * Servers that the load test compares Sluice with. `node scripts/lib/peer.mjs <name>` fetches the packages of one at its first
 * use, and writes the path of their folder to standard output.
 */
import { fetchOnDemand } from './on-demand.mjs';

const PEERS = {
  yoga: ['graphql-yoga@5.24.1'],
  mercurius: ['mercurius@16.10.1', 'fastify@5.12.8'],
};

const [name] = process.argv.slice(2);
const packages = Object.hasOwn(PEERS, name ?? '') ? PEERS[name] : undefined;
if (packages === undefined) {
  console.error(`expected one of ${Object.keys(PEERS).join(', ')}, got ${name ?? 'nothing'}`);
  process.exitCode = 2;
} else {
  // A schema is of one copy of graphql, and these copies must be the same.
  const version = packages.map((one) => one.replaceAll('@', '-')).join('-');
  await fetchOnDemand({ name: `peer-${version}`, packages, shared: ['graphql'] }, (folder) => folder);
}
