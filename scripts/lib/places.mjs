/** The folders of services. */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import path from 'node:path';
import { root } from '../ensure.mjs';

/** Data, logs and pids of this clone's services. `down` removes the folder. */
export const dataFolder = path.join(root, '.services');

/** Downloads, shared by all clones of this user. */
export const cacheFolder = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'sluice');

/** Name of this clone among those of this user. */
export const cloneName = createHash('sha256').update(root).digest('hex').slice(0, 8);

/** Docker's name for the services of this clone. */
export const composeProject = `sluice-${cloneName}`;
