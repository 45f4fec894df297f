import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';

/** Structured log, one JSON object a line. Each part of the gateway has a child logger that adds its name. */
export type Log = Logger;

/** @param destination where lines are written; standard output by default */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: withoutCommands },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/**
 * Errors of ioredis hold the commands that failed, with their arguments, such as the password of a login, or published
 * events.
 */
function withoutCommands(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  return { ...stdSerializers.err(thrown), command: undefined, previousErrors: undefined };
}
