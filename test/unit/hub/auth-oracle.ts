import { execute, GraphQLError, parse, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { buildSchema } from 'graphql';
import type { Json } from '../../../src/lazy/reads.ts';

/** What one `@auth` asks for, as a test writes it: all of what is there. */
export interface Ask {
  readonly requires?: readonly string[];
  readonly claim?: string;
  readonly owner?: { readonly argument?: string; readonly field?: string; readonly claim?: string };
  readonly any?: readonly Ask[];
}

/** `@auth` by place: `Type` or `Type.field`. */
export type Asks = Readonly<Record<string, readonly Ask[]>>;

/** The directives of one place, as the schema has them. */
export function sdl(asks: readonly Ask[] | undefined): string {
  return (asks ?? [])
    .map((ask) => {
      const inner = written(ask).slice(2, -2);
      return inner === '' ? '@auth' : `@auth(${inner})`;
    })
    .join(' ');
}

function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `${key}: ${written(item)}`)
    .join(', ')} }`;
}

type Values = Readonly<Record<string, unknown>>;

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Values | null | undefined)?.[name], value);
const listOf = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : [value]).map(String);
const isSomething = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** @param source undefined: what events hold is not known yet, so an owner needs only to have a name */
function fulfils(ask: Ask, viewer: Json, args: Values, source: unknown): boolean {
  if (Object.keys(ask).length === 0) return Object.keys(viewer as object).length > 0;
  if (ask.requires && !listOf(at(viewer, ask.claim ?? 'role')).some((one) => ask.requires?.includes(one))) {
    return false;
  }
  if (ask.owner) {
    const own = at(viewer, ask.owner.claim ?? 'id');
    if (!isSomething(own)) return false;
    if (ask.owner.argument !== undefined) {
      const named = args[ask.owner.argument];
      if (!isSomething(named) || !listOf(own).includes(String(named))) return false;
    }
    if (ask.owner.field !== undefined && source !== undefined) {
      const named = at(source, ask.owner.field);
      if (!isSomething(named) || !listOf(own).some((one) => listOf(named).includes(one))) return false;
    }
  }
  return ask.any === undefined || ask.any.some((one) => fulfils(one, viewer, args, source));
}

const usesField = (ask: Ask): boolean =>
  ask.owner?.field !== undefined || (ask.any ?? []).some((one) => one.owner?.field !== undefined);

/** Executes for one viewer alone, on graphql-js, with a check at each field: what the gateway has to give. */
export class AuthOracle {
  readonly #schema: GraphQLSchema;
  readonly #asks: Asks;

  /** @param text without `@auth` */
  constructor(text: string, asks: Asks) {
    this.#schema = buildSchema(text);
    this.#asks = asks;
  }

  /** @param event undefined: when the client subscribes */
  mayHave(field: string, eventType: string, viewer: Json, args: Values, event: unknown): boolean {
    return ['Subscription', `Subscription.${field}`, eventType]
      .flatMap((place) => this.#asks[place] ?? [])
      .every((ask) => fulfils(ask, viewer, args, event));
  }

  execute(query: string, event: unknown, viewer: Json, variableValues: Values): ExecutionResult {
    return execute({
      schema: this.#schema,
      document: parse(query, { noLocation: true }),
      rootValue: event,
      variableValues,
      fieldResolver: (source: Values, args, _context, { parentType, fieldName, returnType }) => {
        if (parentType.name === 'Subscription') return source;
        const places = [
          parentType.name,
          ...[parentType, ...parentType.getInterfaces()].map(({ name }) => `${name}.${fieldName}`),
        ];
        const returned = this.#asks[String(returnType).replaceAll(/[[\]!]/g, '')] ?? [];
        const asks = [
          ...places.flatMap((place) => this.#asks[place] ?? []),
          ...returned.filter((ask) => !usesField(ask)),
        ];
        if (asks.every((ask) => fulfils(ask, viewer, args as Values, source))) return source[fieldName];
        const isAnonymous = Object.keys(viewer as object).length === 0;
        const coordinate = `${parentType.name}.${fieldName}`;
        throw new GraphQLError(
          isAnonymous
            ? `${coordinate} needs a viewer who has authenticated.`
            : `The viewer may not use ${coordinate}.`,
          { extensions: { code: isAnonymous ? 'UNAUTHENTICATED' : 'FORBIDDEN' } },
        );
      },
    }) as ExecutionResult;
  }
}
