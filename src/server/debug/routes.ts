import type { IncomingMessage } from 'node:http';
import type { Log } from '../../log.ts';
import { heapSnapshot, type Memory } from './heap-snapshot.ts';
import { hubState, type Inspectable } from './hub.ts';
import { DebugPage } from './page.ts';
import { allocationProfile, cpuProfile } from './profile.ts';
import { Recordings } from './recordings.ts';
import { HttpError } from '../http-error.ts';
import { isFromThisMachine } from '../loopback.ts';
import type { Handle, Route } from '../router.ts';

export interface DebugOptions {
  readonly inspectable: Inspectable;
  readonly memory: () => Memory;
  readonly log: Log;
}

/**
 * `/debug/…`: a look inside a live pod. What it shows holds tokens and what people have asked for, so it is there for
 * this machine only (`kubectl port-forward` ends on it); for others each path is one that does not exist.
 */
export async function debugRoutes({ inspectable, memory, log }: DebugOptions): Promise<Route[]> {
  const page = await DebugPage.load();
  const recordings = new Recordings();
  const handles: Readonly<Record<string, Handle>> = {
    '/debug/heap-snapshot': heapSnapshot(recordings, memory, log),
    '/debug/cpu-profile': cpuProfile(recordings),
    '/debug/allocation-profile': allocationProfile(recordings),
    '/debug/hub': hubState(inspectable),
    // The last, since the others' paths begin with it.
    '/debug/': page.handle,
  };
  return Object.entries(handles).map(([path, handle]) => ({
    path,
    admits: isFromThisMachine,
    methods: {
      GET: (request, response, rest) => {
        demandIntent(request);
        return handle(request, response, rest);
      },
    },
  }));
}

/**
 * Taking a snapshot is felt by everybody who is connected. A page of another site can't read the answer, but it could
 * ask for it time and again; browsers say who asks.
 */
function demandIntent({ method, headers }: IncomingMessage): void {
  if (method !== 'GET') throw new HttpError(405, `expected GET, got ${method}`, { allow: 'GET' });
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new HttpError(403, "expected to be asked by you or by the gateway's own page, not by another page");
}
