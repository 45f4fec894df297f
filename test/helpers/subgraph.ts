import { buildSchema, execute, parse, validate, type GraphQLSchema } from 'graphql';
import type { FakeBackend } from '../../src/testing/fake-backends.ts';

type Source = Readonly<Record<string, unknown>>;
type Resolve = (source: never, args: never) => unknown;

interface Request {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A subgraph as `@apollo/subgraph` makes one: `Query._entities` finds each representation's object. */
export class Subgraph {
  readonly requests: Request[] = [];
  readonly #schema: GraphQLSchema;

  /**
   * @param sdl without `_entities`, which is added
   * @param entities names of the types in `_Entity`
   * @param find by name of the type; returns null for an object that is not there
   */
  constructor(
    sdl: string,
    resolvers: Readonly<Record<string, Readonly<Record<string, Resolve>>>>,
    entities: readonly string[] = [],
    find: (representation: Source) => unknown = () => null,
  ) {
    const federated = `
      scalar _Any
      union _Entity = ${entities.join(' | ')}
      extend type Query { _entities(representations: [_Any!]!): [_Entity]! }
    `;
    this.#schema = buildSchema(sdl + (entities.length > 0 ? federated : ''));
    for (const [type, fields] of Object.entries(resolvers)) {
      const known = this.#schema.getType(type);
      if (!known || !('getFields' in known)) throw new TypeError(`expected a type ${type}`);
      for (const [name, resolve] of Object.entries(fields)) {
        Object.assign(known.getFields()[name] ?? {}, { resolve });
      }
    }
    const query = this.#schema.getQueryType()?.getFields()['_entities'];
    if (query === undefined) return;
    query.resolve = (_, { representations }: { readonly representations: readonly Source[] }) =>
      representations.map((representation) => {
        const found = find(representation);
        return found === null ? null : { __typename: representation['__typename'], ...(found as object) };
      });
  }

  /** Answers as a GraphQL server does over HTTP. */
  readonly answer: FakeBackend = ({ method, path, body }) => {
    if (method !== 'POST' || path !== '') throw new TypeError(`expected a POST, got ${method} ${path}`);
    const request = body as Request;
    this.requests.push(request);
    const document = parse(request.query);
    const errors = validate(this.#schema, document);
    if (errors.length > 0) return { errors };
    return execute({ schema: this.#schema, document, variableValues: request.variables });
  };
}
