/** What happened in a run, in numbers. */
export interface Summary {
  readonly events: number;
  readonly pods: number;
  readonly deliveries: number;
  /** How often a subscriber was told that events may be missing. */
  readonly told: number;
  /** How often a client has connected again and missed nothing. */
  readonly resumed: number;
}
