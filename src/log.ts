import { pino, type DestinationStream, type Logger } from 'pino';

/** Structured log, one JSON object a line. Each part of the gateway has a child logger that adds its name. */
export type Log = Logger;

/** @param destination where lines are written; standard output by default */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` };
  return destination === undefined ? pino(options) : pino(options, destination);
}
