import { pino, type DestinationStream, type Logger } from 'pino';

/** Structured logging, one JSON object a line. Parts take a child logger that names them. */
export type Log = Logger;

/** @param destination where lines go; standard output unless a test wants to read them */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` };
  return destination === undefined ? pino(options) : pino(options, destination);
}
