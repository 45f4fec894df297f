/**
 * The ways in which Sluice refuses or fails, as a closed list. The message is for whoever reads the log or the
 * response; what led to it stays in `cause` and never leaves the process.
 */
export type ErrorCode = 'BAD_SETTINGS' | 'BAD_GRAPH' | 'UNDECODABLE' | 'WORKER_FAILED';

export class SluiceError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SluiceError';
    this.code = code;
  }
}

/** The message of whatever was thrown, for logs and for errors that wrap it. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
