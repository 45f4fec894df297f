import type { IncomingMessage } from 'node:http';
import type { Log } from '../../log.ts';
import { partitionTable } from '../../ingest/kafka/partition-table.ts';
import type { Explainer } from '../../explain/explainer.ts';
import { explainEvent } from './explain.ts';
import { heapSnapshot, type Memory } from './heap-snapshot.ts';
import { ingestState } from './ingest.ts';
import { hubState, type Inspectable } from './hub.ts';
import { DebugPage } from './page.ts';
import { processState, type ProcessInspectable } from './process.ts';
import { allocationProfile, cpuProfile } from './profile.ts';
import { Recordings } from './recordings.ts';
import { TableRoutes, type ListedTable } from './tables.ts';
import { soleWorker } from './workers.ts';
import { HttpError } from '../http-error.ts';
import { isFromThisMachine, letNeighbourRead } from '../loopback.ts';
import type { Handle, Route } from '../router.ts';
import { sendJson } from '../respond.ts';

export interface DebugOptions {
  readonly inspectable: Inspectable &
    ProcessInspectable & {
      readonly pressure: PressureInspectable;
      readonly hub: { readonly groups: ListedTable; readonly channels: ListedTable };
      readonly connections: { readonly table: ListedTable };
      readonly explainer: Pick<Explainer, 'explain' | 'last' | 'topics' | 'shows'>;
    };
  readonly memory: () => Memory;
  readonly log: Log;
}

/** Paths that another pod's page requests, to explain an event that several pods had. */
const ASKED_BY_OTHER_PODS: ReadonlySet<string> = new Set(['/debug/explain', '/debug/workers']);

/**
 * `/debug/…`: the inner state of a running pod. It contains tokens and clients' variables, so only peers on this
 * machine may read it (`kubectl port-forward` connects from there); others get a 404 for each path.
 */
export async function debugRoutes({ inspectable, memory, log }: DebugOptions): Promise<Route[]> {
  const page = await DebugPage.load();
  const recordings = new Recordings();
  const tables = new TableRoutes();
  const { hub, connections, kafka, pressure } = inspectable;
  const handles: Readonly<Record<string, Handle>> = {
    '/debug/heap-snapshot': heapSnapshot(recordings, memory, log),
    '/debug/cpu-profile': cpuProfile(recordings),
    '/debug/allocation-profile': allocationProfile(recordings),
    '/debug/hub': hubState(inspectable),
    '/debug/ingest': ingestState(kafka),
    '/debug/pressure': pressureState(pressure),
    '/debug/process': processState(inspectable),
    '/debug/explain': explainEvent(inspectable.explainer),
    '/debug/workers': soleWorker,
    '/debug/connections': tables.handle(connections.table, 'waitingBytes'),
    '/debug/groups': tables.handle(hub.groups, 'subscribers'),
    '/debug/channels': tables.handle(hub.channels, 'subscribers'),
    '/debug/partitions': tables.handle(partitionTable(kafka), 'lag'),
    // Last, since the other paths begin with it.
    '/debug/': page.handle,
  };
  return Object.entries(handles).map(([path, handle]) => ({
    path,
    admits: isFromThisMachine,
    methods: {
      GET: (request, response, rest) => {
        const isOfNeighbour = ASKED_BY_OTHER_PODS.has(path) && letNeighbourRead(request, response);
        if (!isOfNeighbour) demandIntent(request);
        return handle(request, response, rest);
      },
    },
  }));
}

/**
 * Refuses requests by pages of other sites. Such a page can't read the response, but it could request snapshots again
 * and again, each of which delays all connected clients. Browsers name the kind of site in `sec-fetch-site`.
 */
function demandIntent({ method, headers }: IncomingMessage): void {
  if (method !== 'GET') throw new HttpError(405, `expected GET, got ${method}`, { allow: 'GET' });
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new HttpError(
    403,
    "expected a request by a user or by the gateway's own page, got one by another page",
  );
}

/** The state that `/debug/pressure` shows; null if pressure is not measured. */
interface PressureInspectable {
  inspect(): unknown;
}

/** `/debug/pressure`: how much of its limits this process uses, and what it does about it. */
function pressureState(pressure: PressureInspectable): Handle {
  return (_request, response) =>
    sendJson(response, 200, { pressure: pressure.inspect() }, { 'cache-control': 'no-store' });
}
