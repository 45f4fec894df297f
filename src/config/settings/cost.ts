import { integer, type Setting } from '../types.ts';

/** Limits for one operation. An operation past a limit gets an error with code, limit and value. */
export const COST_SETTINGS = {
  MAX_TOKENS: integer(100, 100_000, {
    default: 4_000,
    help: 'Most tokens of one document.',
  }),
  MAX_FIELDS: integer(1, 100_000, {
    default: 2_000,
    help: 'Most fields of all operations of one document together, fragments expanded.',
  }),
  MAX_DEPTH: integer(1, 1_000, {
    default: 50,
    help: 'Most levels of fields of one operation.',
  }),
  MAX_ALIASES: integer(0, 100_000, {
    default: 500,
    help: 'Most aliases of one operation, fragments expanded.',
  }),
  MAX_ROOT_FIELDS: integer(1, 100_000, {
    default: 100,
    help: 'Most root fields of one query or mutation.',
  }),
  MAX_DIRECTIVES: integer(0, 100_000, {
    default: 500,
    help: 'Most directives of one operation, fragments expanded.',
  }),
  MAX_COST: integer(1, 1_000_000_000, {
    default: 10_000,
    help: 'Highest cost of one operation by the `@cost` and `@listSize` of the schema.',
  }),
  MAX_COMPARISONS: integer(100, 10_000_000, {
    default: 40_000,
    help: 'Most steps in which the validation of one document looks for fields that can not be merged; each takes about 1 µs.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
