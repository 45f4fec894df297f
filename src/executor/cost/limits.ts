import { COST_SETTINGS } from '../../config/settings/limits.ts';

/** What one operation may ask for, all fragments expanded. */
export interface CostLimits {
  /** Tokens of one document. */
  readonly tokens: number;
  /** The fields of all operations of one document. */
  readonly fields: number;
  readonly depth: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  /** Fields weighted by @cost and @listSize. */
  readonly cost: number;
  /** Steps of validation to find fields that can't be merged, for a whole document; each takes about 1 µs. */
  readonly comparisons: number;
}

/** The names of the limits, as error codes and as values of the label `code` of `sluice_refused_operations_total`. */
export const COST_CODES = {
  tokens: 'TOO_MANY_TOKENS',
  fields: 'TOO_MANY_FIELDS',
  depth: 'TOO_DEEP',
  aliases: 'TOO_MANY_ALIASES',
  rootFields: 'TOO_MANY_ROOT_FIELDS',
  directives: 'TOO_MANY_DIRECTIVES',
  cost: 'TOO_COSTLY',
  comparisons: 'TOO_MANY_COMPARISONS',
  introspection: 'TOO_MUCH_INTROSPECTION',
} as const satisfies Record<keyof CostLimits | 'introspection', string>;

export type CostCode = (typeof COST_CODES)[keyof typeof COST_CODES];

const CODES: ReadonlySet<unknown> = new Set(Object.values(COST_CODES));

export function isCostCode(code: unknown): code is CostCode {
  return CODES.has(code);
}

type CostConfig = { readonly [Name in keyof typeof COST_SETTINGS]: number };

export function costLimits(config: CostConfig): CostLimits {
  return {
    tokens: config.MAX_TOKENS,
    fields: config.MAX_FIELDS,
    depth: config.MAX_DEPTH,
    aliases: config.MAX_ALIASES,
    rootFields: config.MAX_ROOT_FIELDS,
    directives: config.MAX_DIRECTIVES,
    cost: config.MAX_COST,
    comparisons: config.MAX_COMPARISONS,
  };
}

/** The defaults of the settings: above what clients of large applications send. */
export const DEFAULT_COST_LIMITS = costLimits(
  Object.fromEntries(
    Object.entries(COST_SETTINGS).map(([name, setting]) => [name, setting.default]),
  ) as CostConfig,
);
