import type { ServerResponse } from 'node:http';
import { Session } from 'node:inspector/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileHeaders, type Recordings } from './recordings.ts';
import { numberParameter } from '../number-parameter.ts';
import type { Handle } from '../router.ts';

const SECONDS = { min: 1, max: 60, default: 10 };

interface Profiler {
  readonly name: string;
  readonly extension: string;
  start(session: Session): Promise<unknown>;
  /** @returns the recorded profile in the format of Chrome DevTools */
  stop(session: Session): Promise<{ readonly profile: object }>;
}

/** Samples of the functions that use CPU time. */
const CPU: Profiler = {
  name: 'a CPU profile',
  extension: 'cpuprofile',
  start: async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  },
  stop: (session) => session.post('Profiler.stop'),
};

/** Samples of allocations, including those that were collected since. */
const ALLOCATIONS: Profiler = {
  name: 'an allocation profile',
  extension: 'heapprofile',
  start: (session) => session.post('HeapProfiler.startSampling', INCLUDE_COLLECTED),
  stop: (session) => session.post('HeapProfiler.stopSampling'),
};

const INCLUDE_COLLECTED = {
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
};

/** `/debug/cpu-profile?seconds=` */
export const cpuProfile = (recordings: Recordings): Handle => profile(CPU, recordings);

/** `/debug/allocation-profile?seconds=` */
export const allocationProfile = (recordings: Recordings): Handle => profile(ALLOCATIONS, recordings);

function profile(profiler: Profiler, recordings: Recordings): Handle {
  return (request, response) => {
    const seconds = numberParameter(request, 'seconds', SECONDS);
    return recordings.alone(profiler.name, async () => {
      const recorded = await record(profiler, seconds, closing(response));
      response.writeHead(200, fileHeaders(profiler.extension)).end(JSON.stringify(recorded));
    });
  };
}

/** @throws as soon as `signal` aborts; disconnecting the session ends the recording in any case */
async function record(profiler: Profiler, seconds: number, signal: AbortSignal): Promise<object> {
  const session = new Session();
  session.connect();
  try {
    await profiler.start(session);
    await delay(seconds * 1000, undefined, { signal });
    return (await profiler.stop(session)).profile;
  } finally {
    session.disconnect();
  }
}

/** Aborts when the response can't be sent any more: the client has disconnected, or the server stops. */
function closing(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  return controller.signal;
}
