/**
 * The closed list of Sluice's own errors. The message is for the operator who reads the log, or for the client; the
 * cause stays in `cause` and is never sent to clients.
 */
export type ErrorCode =
  | 'BAD_SETTINGS'
  | 'BAD_GRAPH'
  | 'BAD_FOLDER'
  | 'MISSING_PACKAGE'
  | 'UNDECODABLE'
  | 'WORKER_FAILED'
  | 'KAFKA_FAILED'
  | 'SCHEMA_UNAVAILABLE'
  | 'NOT_EXPLAINED';

export class SluiceError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SluiceError';
    this.code = code;
  }
}

/** The message of a thrown value, which may be no Error, for logs and for errors that wrap it. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'a value whose text cannot be read';
  }
}
