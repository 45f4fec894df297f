import { ownBytes, type ByteSource } from '../support/byte-budget.ts';

/** What the hub may hold, in bytes. */
export interface HubBytes {
  /** Messages that wait for their turn. */
  readonly backlog: ByteSource;
  /** Messages in the intervals of throttles. */
  readonly throttles: ByteSource;
  /** Histories that are read and recorded for subscribers who resume. */
  readonly history: ByteSource;
}

/** For each, where no budget is given. */
const DEFAULT_BYTES = 64 * 2 ** 20;

export function defaultBytes(): HubBytes {
  return {
    backlog: ownBytes(DEFAULT_BYTES),
    throttles: ownBytes(DEFAULT_BYTES),
    history: ownBytes(DEFAULT_BYTES),
  };
}
