/**
 * Three-valued logic (Kleene's) in numbers: `and` is the least of its parts, `or` the greatest, `not` is YES minus its
 * part. A comparison with a field that the event does not have is UNKNOWN, and only YES lets an event through, so a
 * missing field rejects the event, under `not` as well.
 */
export const NO = 0;
export const UNKNOWN = 1;
export const YES = 2;

export type Ternary = typeof NO | typeof UNKNOWN | typeof YES;
