import {
  defaultFieldResolver,
  isIntrospectionType,
  isObjectType,
  type GraphQLFieldResolver,
  type GraphQLSchema,
} from 'graphql';
import { recordedViewerOf } from '../../lazy/recorded-viewer.ts';
import { bounded, countError } from '../error-budget.ts';
import { plainSource } from '../entities/remote-answer.ts';
import { allPass } from './evidence.ts';
import type { Guards } from './guards.ts';
import { refusal } from './refusal.ts';
import type { Rule } from './rule.ts';

type Resolver = GraphQLFieldResolver<unknown, unknown>;

const guardedResolvers = new WeakSet<Resolver>();

/** Whether a field's resolver may throw an AccessError. */
export function isGuarded(resolver: Resolver): boolean {
  return guardedResolvers.has(resolver);
}

/**
 * Makes the guarded fields of a schema check the viewer before they are resolved. Changes the schema in place, after
 * the graph's resolvers are attached. Subscription fields stay as they are: a client is checked when it subscribes.
 */
export function attachAuth(schema: GraphQLSchema, guards: Guards): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type) || type === schema.getSubscriptionType()) continue;
    for (const field of Object.values(type.getFields())) {
      const rules = guards.rulesOf(type, field);
      if (rules.length === 0) continue;
      const coordinate = `${type.name}.${field.name}`;
      field.resolve = guarded(field.resolve ?? bounded(defaultFieldResolver), rules, coordinate);
    }
  }
}

function guarded(resolve: Resolver, rules: readonly Rule[], coordinate: string): Resolver {
  const checked: Resolver = (source, args, context, info) => {
    const viewer = recordedViewerOf(context);
    const value = plainSource(source, info.parentType);
    if (!allPass(rules, { viewer, args, source: { value } })) {
      countError(context);
      throw refusal(coordinate, viewer);
    }
    return resolve(source, args, context, info);
  };
  guardedResolvers.add(checked);
  return checked;
}
