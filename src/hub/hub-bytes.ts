import { ByteBudget, type ByteSource } from '../support/byte-budget.ts';

/** What the hub may hold, in bytes. */
export interface HubBytes {
  /** Messages that wait for their turn. */
  readonly backlog: ByteSource;
  /** Messages in the intervals of throttles. */
  readonly throttles: ByteSource;
}

/** For each, where no budget is given. */
const DEFAULT_BYTES = 64 * 2 ** 20;

export function defaultBytes(): HubBytes {
  const budget = new ByteBudget(2 * DEFAULT_BYTES);
  return {
    backlog: budget.source({ least: DEFAULT_BYTES }),
    throttles: budget.source({ least: DEFAULT_BYTES }),
  };
}
