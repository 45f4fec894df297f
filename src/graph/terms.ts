import { print, type GraphQLArgument } from 'graphql';
import type { Rule } from './auth/rule.ts';
import type { Condition } from './filter/syntax.ts';

/**
 * What the schema says of one subscription field that decides who gets which of its topic's events, as texts: equal ones
 * mean the same in two graphs. What code makes of it is not compared: code is what reloads are for.
 */
export interface Terms {
  readonly filter: string;
  readonly access: string;
  /** The default values of the field's arguments, since a client that leaves one out means its default. */
  readonly defaults: string;
  /** Which events may be left out. */
  readonly delivery: string;
}

/**
 * @param rules all that guard the subscription itself
 * @param delivery what `@delivery` says; undefined if no event may be left out
 */
export function termsOf(
  condition: Condition | undefined,
  rules: readonly Rule[],
  args: readonly GraphQLArgument[],
  delivery: object | undefined,
): Terms {
  const defaults = args.flatMap(({ name, astNode }) =>
    astNode?.defaultValue === undefined ? [] : [`${name}: ${print(astNode.defaultValue)}`],
  );
  return {
    filter: written(condition),
    access: written(rules),
    defaults: defaults.toSorted().join(),
    delivery: written(delivery),
  };
}

/** Without places in the file. */
function written(value: unknown): string {
  return JSON.stringify(value ?? null, (key, part: unknown) =>
    key === 'node' || key === 'loc' ? undefined : part,
  );
}
