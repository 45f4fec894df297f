/** How much a bus keeps of the channels of one topic. */
export interface HistorySettings {
  /** Minimum number of messages kept of each channel. */
  readonly size: number;
  /** How long a channel without subscribed pods is kept, in ms. */
  readonly ttlMs: number;
  /** Whether all channels are kept, for `ttlMs` after their last messages, or only channels that had subscribers. */
  readonly keepsAll: boolean;
}

/** As long as a channel is kept by default. */
const MOST_INTEREST_MS = 120_000;

/**
 * How long a bus remembers that a channel without messages had a subscriber, in ms. Clients choose these channels, so
 * the time is limited where all channels are kept, which may be for a day.
 */
export function interestMs({ ttlMs, keepsAll }: HistorySettings): number {
  return keepsAll ? Math.min(ttlMs, MOST_INTEREST_MS) : ttlMs;
}
