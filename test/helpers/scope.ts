import { after } from 'node:test';

/** What cleans up when it ends: a test, which its context stands for, or a file. */
export interface Scope {
  after(cleanup: () => unknown): void;
}

/**
 * The scope of a test file that calls this while it is loaded. What is cleaned up after its last test is so in the order
 * in which it came, as in a test.
 */
export function fileScope(): Scope {
  const cleanups: (() => unknown)[] = [];
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });
  return { after: (cleanup) => void cleanups.push(cleanup) };
}
