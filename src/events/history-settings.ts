/** How much a bus keeps of the channels of one topic. */
export interface HistorySettings {
  /** Messages of each channel, at least. */
  readonly size: number;
  /** How long a channel is kept that no pod is subscribed to, in ms. */
  readonly ttlMs: number;
  /** Whether all channels are kept, for this time after their last messages; else only those that have subscribers. */
  readonly keepsAll: boolean;
}
