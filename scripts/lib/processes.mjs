/**
 * Processes: commands that the script waits for, and servers that outlive the script that starts them.
 *
 * @typedef {object} Identity of a server that an earlier run may have started
 * @property {number} pid
 * @property {string[]} marks parts of its command line: the pid alone may belong to another process by now
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 50;
const STOP_TIMEOUT_MS = 10_000;
const REASON_LINES = 8;

/** @type {Set<import('node:child_process').ChildProcess>} */
const commands = new Set();

let interrupted = false;

/**
 * @param {string} command
 * @param {string[]} args
 * @param {object} [options]
 * @param {string} [options.cwd]
 * @param {NodeJS.ProcessEnv} [options.env] added to this process's
 * @param {number} [options.timeoutMs]
 * @param {boolean} [options.cleansUp] runs even after an interruption
 * @returns {Promise<string>} the command's standard output; rejects with the last lines that it wrote
 */
export function run(command, args, { cwd, env, timeoutMs, cleansUp = false } = {}) {
  return new Promise((resolve, reject) => {
    if (interrupted && !cleansUp) throw new Error('Interrupted.');
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    });
    commands.add(child);
    let output = '';
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      output += chunk;
    });
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      commands.delete(child);
      if (code === 0) resolve(stdout);
      else reject(new Error(`${command} ended with ${signal ?? code}: ${lastLines(output)}`));
    });
  });
}

/** Makes all waits fail after the script was told to stop, so that it can stop services that it has started. */
export function interrupt() {
  interrupted = true;
  for (const child of commands) child.kill();
}

export const isInterrupted = () => interrupted;

/**
 * Starts a server that keeps running when this process ends.
 *
 * @returns {number} the server's pid
 */
export function startServer(command, args, { cwd, logFile }) {
  const log = openSync(logFile, 'a');
  const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.once('error', () => {});
  child.unref();
  if (child.pid === undefined) throw new Error(`${command} could not be started.`);
  return child.pid;
}

/**
 * @param {() => Promise<boolean>} answers
 * @param {object} about
 * @param {string} about.name
 * @param {number} about.timeoutMs
 * @param {Identity} [about.server] absent if a container runs it
 * @param {string} [about.logFile]
 */
export async function waitUntilReady(answers, { name, timeoutMs, server, logFile }) {
  const deadline = Date.now() + timeoutMs;
  while (!(await answers())) {
    if (interrupted) throw new Error('Interrupted.');
    if (server !== undefined && !isRunning(server)) {
      throw new Error(`${name} ended at its start: ${tail(logFile)}`);
    }
    if (Date.now() > deadline) {
      throw new Error(`${name} did not answer within ${timeoutMs / 1000} s: ${tail(logFile)}`);
    }
    await delay(POLL_MS);
  }
}

/** @param {Identity} server */
export function isRunning({ pid, marks }) {
  const line = commandLine(pid);
  return line !== '' && marks.every((mark) => line.includes(mark));
}

/**
 * Resolves when the process is gone. Its data are removed too, so it gets little time to put them in order.
 *
 * @param {Identity} server
 */
export async function stopServer(server) {
  const giveUp = Date.now() + STOP_TIMEOUT_MS;
  for (const [signal, untilMs] of [
    ['SIGTERM', 3_000],
    ['SIGKILL', STOP_TIMEOUT_MS],
  ]) {
    if (!isRunning(server)) return;
    process.kill(server.pid, signal);
    const until = Math.min(giveUp, Date.now() + untilMs);
    while (isRunning(server) && Date.now() < until) await delay(POLL_MS);
  }
  if (isRunning(server)) throw new Error(`Process ${server.pid} (${server.marks.join(' ')}) does not end.`);
}

/** @returns {string} empty if there is no such process, or only a zombie that its parent has not reaped yet */
export function commandLine(pid) {
  if (existsSync('/proc/self/cmdline')) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

function tail(logFile) {
  return logFile !== undefined && existsSync(logFile)
    ? lastLines(readFileSync(logFile, 'utf8'))
    : 'it wrote nothing';
}

function lastLines(output) {
  const lines = output.trim().split('\n');
  return lines.length > 1 ? `\n  ${lines.slice(-REASON_LINES).join('\n  ')}` : lines[0] || 'it wrote nothing';
}
