import { after } from 'node:test';

/** Runs cleanups when it ends. A test's context is a scope; so is a file. */
export interface Scope {
  after(cleanup: () => unknown): void;
}

/**
 * The scope of a test file, to be called while the file is loaded. After the file's last test, cleanups run in the
 * order in which they were added, as in a test.
 */
export function fileScope(): Scope {
  const cleanups: (() => unknown)[] = [];
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });
  return { after: (cleanup) => void cleanups.push(cleanup) };
}
