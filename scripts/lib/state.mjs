/**
 * The running services, remembered from one run to the next.
 *
 * @typedef {import('./processes.mjs').Identity & { how: 'process', port: number, controllerPort: number }} Process
 * @typedef {{ how: 'container', port: number }} Container
 * @typedef {{ kafka?: Process | Container, redis?: Process | Container }} State
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { dataFolder } from './places.mjs';

const file = path.join(dataFolder, 'state.json');

/** @returns {State} */
export function readState() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}

/**
 * @param {keyof State} service
 * @param {Process | Container | undefined} entry undefined: the service does not run any more
 */
export function remember(service, entry) {
  mkdirSync(dataFolder, { recursive: true });
  // Renamed into place, so that a kill in the middle leaves the old state and not an incomplete new one.
  writeFileSync(`${file}.new`, JSON.stringify({ ...readState(), [service]: entry }));
  renameSync(`${file}.new`, file);
}
