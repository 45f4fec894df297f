/** One comparison, for one event and one viewer. */
export interface Compared {
  /** The path of the event's field: `amount.value`. */
  readonly path: string;
  /** `gte`, `not gte`; `owner` for what `@auth` compares. */
  readonly operator: string;
  /** The source of the other value: `$min`, `$viewer.id`; null for a literal. */
  readonly operand: string | null;
  /** The other value, as shortened JSON; `nothing` if there is none. */
  readonly with: string;
  /** The event's value, as shortened JSON; `nothing` if there is none. */
  readonly got: string;
  /** `unknown`: one of the values is missing or unusable. `left out`: the argument of `operand` is absent or null. */
  readonly outcome: 'holds' | 'fails' | 'unknown' | 'left out';
}

/** The comparisons that decide whether a viewer gets an event. */
export interface Comparisons {
  /** The directive that keeps the event back, if the event is kept back. */
  readonly directive: '@auth' | '@filter';
  readonly compared: readonly Compared[];
}
