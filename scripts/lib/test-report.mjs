/** The report of a run of tests, from the events of Node's test runner. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import { root } from '../ensure.mjs';
import { nameOf } from './test-files.mjs';

const SLOWEST_SHOWN = 10;

/** The last characters of a process's output, which are shown if the process itself fails. */
const OUTPUT_KEPT = 4_000;

/** The failure type of a test that fails only because a test below it does. */
const BELOW = 'subtestsFailed';

/** @typedef {{ seconds: number, passed: number, skipped: string[], failures: string[], hasTests: boolean,
 *   hasEnded: boolean }} FileResult */

export class TestReport {
  /** @type {Map<string, FileResult>} by the file's name, as `nameOf` returns it */
  #files;
  /** Failures of processes that several files share. */
  #ofSeveralFiles = emptyResult();
  /** @type {string[]} names of files that failed at first, and run again by themselves */
  #flaky = [];
  /** @type {Map<string, number>} when each suite began */
  #begun = new Map();
  /** @type {Map<string, string>} the last output of processes, by module */
  #output = new Map();
  #start = performance.now();
  #tells;
  #isFiltered;

  /**
   * @param {string[]} files that are to run
   * @param {object} options
   * @param {boolean} options.tells prints suites and failures as they come
   * @param {boolean} options.isFiltered tests are chosen by name, so a file may run none
   */
  constructor(files, { tells, isFiltered }) {
    this.#files = new Map(files.map((file) => [nameOf(file), emptyResult()]));
    this.#tells = tells;
    this.#isFiltered = isFiltered;
  }

  /** @param {string[]} files of a process that starts */
  begin(files) {
    for (const suite of files.map((file) => suiteOfName(nameOf(file))))
      if (!this.#begun.has(suite)) this.#begun.set(suite, performance.now());
  }

  /**
   * Takes an event of `run()`.
   *
   * @param {string[]} files of the process that the event comes from
   */
  take({ type, data }, files) {
    // A process is a test whose name is the path of its module.
    const isProcess = data.nesting === 0 && data.name !== undefined && path.isAbsolute(data.name);
    if (type === 'test:stdout' || type === 'test:stderr') this.#keepOutput(data);
    else if (type === 'test:complete' && isProcess) this.#endProcess(data);
    else if (type === 'test:complete') this.#endTest(data, files);
  }

  /** @param {string[]} files of a process that has ended */
  end(files) {
    for (const name of files.map(nameOf)) {
      const result = this.#files.get(name);
      result.hasEnded = true;
      // A process that ends early with code 0 leaves out tests.
      const isSilent = !result.hasTests && result.failures.length === 0 && !this.#isFiltered;
      if (isSilent) this.#fail(result, `No test of ${name} has run.`, true);
      if (this.#tells) this.#tellSuite(suiteOfName(name));
    }
  }

  /** @returns {string[]} names of files with a failed test, or without any test that has run */
  failedFiles() {
    return [...this.#files].filter(([, { failures }]) => failures.length > 0).map(([name]) => name);
  }

  /** A file runs once more: its first result is dropped, and it is flaky if it passes now. */
  beginAgain(name) {
    this.#files.set(name, emptyResult());
    this.#begun.delete(suiteOfName(name));
    this.#flaky.push(name);
  }

  /** @returns {{ passed: number, failed: number, flaky: number, skipped: number }} `flaky`: files; else tests */
  totals() {
    const results = [...this.#files.values(), this.#ofSeveralFiles];
    const sum = (of) => results.reduce((total, result) => total + of(result), 0);
    return {
      passed: sum(({ passed }) => passed),
      failed: sum(({ failures }) => failures.length),
      skipped: sum(({ skipped }) => skipped.length),
      flaky: this.#flakyFiles().length,
    };
  }

  /**
   * @param {string | undefined} notRun the tests that this run leaves out, with the command for them
   * @returns {string} the last lines of a run
   */
  summary(notRun) {
    const { passed, failed, skipped, flaky } = this.totals();
    const skips = [...this.#files.values(), this.#ofSeveralFiles].flatMap((result) => result.skipped);
    return [
      ...section('Skipped:', skips),
      ...section('Failed:', [
        ...this.failedFiles(),
        ...this.#ofSeveralFiles.failures.map(() => 'a process of several files'),
      ]),
      ...section('Flaky, since they failed at first and passed by themselves:', this.#flakyFiles()),
      ...section('The slowest test files:', this.#slowest()),
      ...(notRun === undefined ? [] : ['', notRun]),
      '',
      `${passed} passed, ${failed} failed, ${skipped} skipped`,
      `in ${span(performance.now() - this.#start)}, ${flaky} flaky`,
    ].join('\n');
  }

  #flakyFiles() {
    return this.#flaky.filter((name) => this.#files.get(name).failures.length === 0);
  }

  #slowest() {
    return [...this.#files]
      .toSorted(([, one], [, other]) => other.seconds - one.seconds)
      .slice(0, SLOWEST_SHOWN)
      .map(([name, { seconds }]) => `${seconds.toFixed(1).padStart(8)} s  test/${name}.test.ts`);
  }

  #keepOutput({ file, message }) {
    this.#output.set(file, ((this.#output.get(file) ?? '') + message).slice(-OUTPUT_KEPT));
  }

  #endTest({ name, file, line, skip, todo, nesting, details }, files) {
    const result = this.#resultOf(file, files);
    result.hasTests = true;
    const { passed, error, duration_ms: ms, type } = details;
    if (nesting === 0) result.seconds += ms / 1000;
    const reason = skip ?? todo;
    if (reason !== undefined && reason !== false) result.skipped.push(`${name}: ${String(reason)}`);
    else if (!passed && error?.failureType !== BELOW)
      this.#fail(
        result,
        `✖ ${path.relative(root, file)}:${line} «${name}»\n${inspect(error?.cause ?? error)}\n`,
      );
    else if (passed && type !== 'suite') result.passed += 1;
  }

  /** Node gives the file in which a test is registered, which may be a helper. */
  #resultOf(file, files) {
    const registering = files.length === 1 ? files[0] : file;
    return this.#files.get(nameOf(registering)) ?? this.#ofSeveralFiles;
  }

  #endProcess({ name: module, details }) {
    const { passed, error, duration_ms: ms } = details;
    const result = this.#files.get(nameOf(module));
    if (result !== undefined) result.seconds = ms / 1000;
    if (passed || error?.failureType === BELOW) return;
    const about = result === undefined ? readFileSync(module, 'utf8') : nameOf(module);
    const output = this.#output.get(module) ?? '';
    const failure = `✖ A process failed by itself: ${about}\n${inspect(error?.cause ?? error)}\n${output}`;
    this.#fail(result ?? this.#ofSeveralFiles, failure);
  }

  #fail({ failures }, failure, tells = this.#tells) {
    failures.push(failure);
    if (tells) console.log(failure);
  }

  #tellSuite(suite) {
    const results = [...this.#files]
      .filter(([name]) => suiteOfName(name) === suite)
      .map(([, result]) => result);
    const ended = results.filter(({ hasEnded }) => hasEnded);
    if (ended.length < results.length) return;
    const tests = results.reduce((sum, { passed }) => sum + passed, 0);
    const failed = results.reduce((sum, { failures }) => sum + failures.length, 0);
    const mark = failed === 0 ? '✔' : `✖ ${failed} failed:`;
    const seconds = span(performance.now() - this.#begun.get(suite));
    console.log(`${mark} ${suite}: ${results.length} files, ${tests} tests passed, ${seconds}`);
  }
}

const emptyResult = () => ({
  seconds: 0,
  passed: 0,
  skipped: [],
  failures: [],
  hasTests: false,
  hasEnded: false,
});

const suiteOfName = (name) => name.split('/')[0];

const section = (title, lines) =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];

function span(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
