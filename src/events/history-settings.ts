/** How much a bus keeps of the channels of one topic. */
export interface HistorySettings {
  /** Messages of each channel, at least. */
  readonly size: number;
  /** How long a channel is kept that no pod is subscribed to, in ms. */
  readonly ttlMs: number;
  /** Whether all channels are kept, for this time after their last messages; else only those that have subscribers. */
  readonly keepsAll: boolean;
}

/** Channels are kept as long by default. */
const MOST_INTEREST_MS = 120_000;

/**
 * How long it is kept that a channel has had a subscriber, where there was no message, in ms: clients choose such channels,
 * so where all channels are kept, which may be for a day, it is not that long.
 */
export function interestMs({ ttlMs, keepsAll }: HistorySettings): number {
  return keepsAll ? Math.min(ttlMs, MOST_INTEREST_MS) : ttlMs;
}
