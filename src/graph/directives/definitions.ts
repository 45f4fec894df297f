import { Kind, OperationTypeNode, parse, Source, type DefinitionNode, type DocumentNode } from 'graphql';

/**
 * Directives that the gateway adds to every schema. Only those that the gateway implements are declared, so that a
 * schema that uses another one fails at start.
 */
const GATEWAY_SDL = /* GraphQL */ `
  """
  Sends subscribers the events of a Kafka topic. With a key, the argument of that name selects the events whose field of
  that name has its value; a list selects several values; null or absent selects all events.
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
  Sends subscribers only the events that fulfil the conditions. "$name" stands for the value of an argument; the
  condition is dropped if the argument is absent or null. "$viewer.path" stands for a value of the viewer; without that
  value the filter rejects all events.
  """
  directive @filter(where: EventFilter!) on FIELD_DEFINITION

  enum EventKeys {
    "Keys of events become snake_case."
    SNAKE
    "Keys of events stay as they are."
    KEEP
  }

  enum EventKeySource {
    "The value of the key is read from each event."
    EVENT
    "The Kafka key of each message holds the same value, as text. Messages without subscribers are then not parsed."
    KAFKA_KEY
  }

  enum EventFormat {
    JSON
  }

  enum EventSharing {
    "Subscribers share a result if their viewers agree on all viewer values that its execution has read."
    READS
    "Each event is executed for each subscriber separately."
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
