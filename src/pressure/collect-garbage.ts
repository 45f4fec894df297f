import { Session } from 'node:inspector/promises';

/**
 * Has V8 collect all garbage, and give memory back, which it may put off for as long as a process has little to do. The
 * event loop stands still meanwhile: the longer, the more is alive.
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
