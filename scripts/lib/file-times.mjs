/** How long each test file took, from the events of Node's test runner. */
import { nameOf } from './test-files.mjs';

const SHOWN = 10;

export class FileTimes {
  /** @type {Record<string, number>} by name: of a process that has one file, or of the tests of a file that shares one */
  seconds = {};

  /** Names of files of which a test, and not only the process, has ended. */
  reported = new Set();

  take({ type, data }) {
    if (type !== 'test:complete' || data.nesting !== 0) return;
    const ofProcess = nameOf(data.name);
    const name = ofProcess ?? nameOf(data.file);
    if (name === undefined) return;
    if (ofProcess === undefined) this.reported.add(name);
    const seconds = data.details.duration_ms / 1000;
    // What a process took counts, and not its tests a second time.
    if (ofProcess !== undefined) this.#processes.add(name);
    else if (this.#processes.has(name)) return;
    this.seconds[name] = ofProcess === undefined ? (this.seconds[name] ?? 0) + seconds : seconds;
  }

  #processes = new Set();

  /** @returns {string} a line for each of the slowest files */
  slowest() {
    const lines = Object.entries(this.seconds)
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, SHOWN)
      .map(([name, seconds]) => `${seconds.toFixed(1).padStart(8)} s  test/${name}.test.ts`);
    return `\nThe slowest test files:\n${lines.join('\n')}`;
  }
}
