import { Session } from 'node:inspector/promises';

/**
 * Makes V8 collect all garbage and give memory back, which V8 may put off for as long as a process has little to do.
 * The event loop stands still meanwhile: the more objects are alive, the longer.
 */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
