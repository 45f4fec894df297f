import { Kind, OperationTypeNode, parse, Source, type DefinitionNode, type DocumentNode } from 'graphql';

/**
 * What the gateway adds to every schema. What it does not do yet is not declared, so that a schema which counts on it
 * fails at start.
 */
const GATEWAY_SDL = /* GraphQL */ `
  """
  Shows the events of a Kafka topic. Where a key is given, the argument of that name picks the events whose field of
  that name has its value; a list picks several; null or absent picks all.
  """
  directive @event(
    topic: String!
    key: String
    keyFrom: EventKeySource = EVENT
    keys: EventKeys = SNAKE
    format: EventFormat = JSON
    sharing: EventSharing = READS
  ) on FIELD_DEFINITION

  """
  Lets through only the events that fit. "$name" stands for an argument; without a value its condition is taken away.
  "$viewer.path" stands for what the viewer holds; without it nothing is let through.
  """
  directive @filter(where: EventFilter!) on FIELD_DEFINITION

  enum EventKeys {
    "Keys of events become snake_case."
    SNAKE
    "Keys of events stay as they are."
    KEEP
  }

  enum EventKeySource {
    "Each event is asked for the value of the key."
    EVENT
    "The Kafka key of each message holds it too, as text. Messages that nobody is subscribed to are not parsed."
    KAFKA_KEY
  }

  enum EventFormat {
    JSON
  }

  enum EventSharing {
    "Subscribers share a result if their viewers agree on everything that made it."
    READS
    "Each subscriber's result is made for it alone."
    NEVER
  }

  """
  By event field: eq, ne, in, gt, gte, lt, lte, contains; nested objects; and, or, not.
  """
  scalar EventFilter
`;

const QUERY_SDL = /* GraphQL */ `
  type Query {
    "The gateway's version."
    sluice: String
  }
`;

/** The schema with the gateway's directives and, where it has none, a query root. */
export function withGatewaySchema(document: DocumentNode): DocumentNode {
  const definitions = [...definitionsOf(GATEWAY_SDL), ...document.definitions];
  const names = (kind: Kind) =>
    definitions.some(
      (definition) => definition.kind === kind && 'name' in definition && definition.name?.value === 'Query',
    );
  const roots = definitions.filter(
    (definition) => definition.kind === Kind.SCHEMA_DEFINITION || definition.kind === Kind.SCHEMA_EXTENSION,
  );
  const explicit = roots.some((root) => root.kind === Kind.SCHEMA_DEFINITION);
  const hasQuery = explicit
    ? roots.some(({ operationTypes }) =>
        operationTypes?.some(({ operation }) => operation === OperationTypeNode.QUERY),
      )
    : names(Kind.OBJECT_TYPE_DEFINITION);
  if (hasQuery) return { ...document, definitions };
  if (!names(Kind.OBJECT_TYPE_DEFINITION)) definitions.push(...definitionsOf(QUERY_SDL));
  if (explicit) definitions.push(...definitionsOf('extend schema { query: Query }'));
  return { ...document, definitions };
}

function definitionsOf(sdl: string): readonly DefinitionNode[] {
  return parse(new Source(sdl, 'sluice')).definitions;
}
