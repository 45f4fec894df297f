/**
 * node-clinic: 694 packages, 157 MB. `node scripts/lib/clinic.mjs` fetches it at its first use, and writes the path of its
 * program to standard output.
 */
import path from 'node:path';
import { fetchOnDemand } from './on-demand.mjs';

const VERSION = '13.0.0';

await fetchOnDemand({ name: `clinic-${VERSION}`, packages: [`clinic@${VERSION}`] }, (folder) =>
  path.join(folder, 'node_modules/clinic/bin.js'),
);
