import { GraphQLError, isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { isRecord } from '../../support/kind-of.ts';
import type { Resolvers } from '../api/resolvers.ts';
import { GATEWAY_SOURCE } from '../diagnostic.ts';
import { resumed } from '../loader/attach-resolvers.ts';

/** The code by which a graph resolves references: `resolvers: { Order: { __resolveReference } }`. */
export const REFERENCE_RESOLVER = '__resolveReference';

type ReferenceResolver = (reference: unknown, context: unknown, info: unknown) => unknown;

/** Names of the types whose references the graph resolves. */
export function resolvableTypes(resolvers: Resolvers | undefined): ReadonlySet<string> {
  const types = Object.entries(resolvers ?? {}).filter(
    ([, code]) => isRecord(code) && REFERENCE_RESOLVER in code,
  );
  return new Set(types.map(([name]) => name));
}

/**
 * Gives `Query._service` and `Query._entities` their resolvers, where the gateway has added these fields.
 *
 * @param sdl for `_service`
 */
export function attachFederation(schema: GraphQLSchema, sdl: string, resolvers: Resolvers = {}): void {
  const fields = schema.getQueryType()?.getFields() ?? {};
  const { _service: service, _entities: entities } = fields;
  if (service?.astNode?.loc?.source.name === GATEWAY_SOURCE) service.resolve = () => ({ sdl });
  if (entities?.astNode?.loc?.source.name !== GATEWAY_SOURCE) return;
  const types = new WeakMap<object, string>();
  const noted = (value: unknown, type: string): unknown => {
    if (typeof value === 'object' && value !== null) types.set(value, type);
    return value;
  };
  const resolve: GraphQLFieldResolver<unknown, unknown, { readonly representations: readonly unknown[] }> = (
    _,
    { representations },
    context,
    info,
  ) => {
    if (representations.length > MAX_REPRESENTATIONS) {
      throw refusal(`expected at most ${MAX_REPRESENTATIONS} representations, got ${representations.length}`);
    }
    return representations.map(async (representation) => {
      const type = isRecord(representation) ? representation['__typename'] : undefined;
      const code =
        typeof type === 'string' ? (resolvers[type] as Record<string, unknown> | undefined) : undefined;
      const resolver = code?.[REFERENCE_RESOLVER];
      if (typeof type !== 'string' || typeof resolver !== 'function' || !isObjectType(schema.getType(type))) {
        throw refusal('expected a representation with the __typename of an entity that is resolved here');
      }
      return noted(await (resolver as ReferenceResolver)(representation, context, info), type);
    });
  };
  entities.resolve = resumed(resolve as GraphQLFieldResolver<unknown, unknown>);
  const union = schema.getType('_Entity');
  if (union && 'resolveType' in union) union.resolveType = (value) => types.get(value as object);
}

/** A router asks for the entities of one result at once. */
const MAX_REPRESENTATIONS = 1_000;

function refusal(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_REPRESENTATION' } });
}
