import { print, type GraphQLArgument } from 'graphql';
import type { Rule } from './auth/rule.ts';
import type { Condition } from './filter/syntax.ts';

/**
 * The parts of the schema that decide which clients get which events of one subscription field, as texts: equal texts
 * mean the same in two graphs. The graph's code is not compared, since reloads are meant to change code.
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
 * @param rules all rules that guard the subscription itself
 * @param delivery arguments of `@delivery`; undefined if no event may be left out
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

/** Leaves out positions in the schema's file. */
function written(value: unknown): string {
  return JSON.stringify(value ?? null, (key, part: unknown) =>
    key === 'node' || key === 'loc' ? undefined : part,
  );
}
