/** One comparison, for one event and one viewer. */
export interface Compared {
  /** The path of the event's field: `amount.value`. */
  readonly path: string;
  /** `gte`, `not gte`; `owner` for what `@auth` compares. */
  readonly operator: string;
  /** Where the value comes from that is compared with: `$min`, `$viewer.id`; null for a literal. */
  readonly operand: string | null;
  /** That value, as JSON, shortened; `nothing` if there is none. */
  readonly with: string;
  /** The event's value, likewise. */
  readonly got: string;
  /** `unknown`: one of them is missing, or of no use. `left out`: its argument is absent or null. */
  readonly outcome: 'holds' | 'fails' | 'unknown' | 'left out';
}

/** All that decides whether a viewer gets an event. */
export interface Comparisons {
  /** Where it is kept back, the directive that does. */
  readonly directive: '@auth' | '@filter';
  readonly compared: readonly Compared[];
}
