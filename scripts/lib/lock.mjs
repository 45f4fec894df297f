/** A lock between processes: a file with its owner's pid. It does not count when that process is gone. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLine, isInterrupted } from './processes.mjs';

const POLL_MS = 100;

/**
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} task
 * @returns {Promise<T>}
 */
export async function withLock(file, task) {
  await acquire(file);
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await task();
  } finally {
    process.off('exit', release);
    release();
  }
}

async function acquire(file) {
  mkdirSync(path.dirname(file), { recursive: true });
  for (let told = false; ; told = true) {
    if (isInterrupted()) throw new Error('Interrupted.');
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = ownerOf(file);
    if (owner !== undefined && !commandLine(owner).includes('node')) {
      rmSync(file, { force: true });
      continue;
    }
    if (!told && owner !== process.pid)
      console.error(`Waiting for process ${owner ?? '?'}, which holds ${file} …`);
    await delay(POLL_MS);
  }
}

/** @returns {number | undefined} undefined if the owner has not written its pid yet, or has just released the lock */
function ownerOf(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}
