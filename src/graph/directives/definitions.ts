import {
  Kind,
  OperationTypeNode,
  parse,
  print,
  Source,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLDirective,
  type GraphQLNamedType,
} from 'graphql';
import { GATEWAY_SOURCE } from '../diagnostic.ts';

/**
 * Directives that the gateway adds to every schema. Only those that the gateway implements are declared, so that a
 * schema that uses another one fails at start.
 */
const AUTHORS_SDL = /* GraphQL */ `
  """
  Sends subscribers the events of a Kafka topic, or of several topics. With a key, the argument of that name selects the
  events whose field of that name has its value; a list selects several values; null or absent selects all events.
  """
  directive @event(
    "The name of a topic; or a pattern between slashes, for all topics that match it, new ones too."
    topic: String
    "Names and patterns of several topics, in place of one."
    topics: [String!]
    "An event field, or a path to one: customer.customer_id."
    key: String
    "The argument that selects by it; the last name of the key if it is left out."
    argument: String
    keyFrom: EventKeySource = EVENT
    keys: EventKeys = SNAKE
    "How values are encoded, if the graph's code has no decode for the topic."
    format: EventFormat = JSON
    "A file in the graph's folder with the schema of values: order.avsc, orders.proto#acme.Order. Left out: each message names its schema, which the schema registry has."
    schema: String
    "How Kafka keys are encoded; left out: as text."
    keyFormat: EventFormat
    "A file with the schema of keys."
    keySchema: String
    "What the messages have around their events."
    envelope: EventEnvelope = NONE
    sharing: EventSharing = READS
    history: EventHistory
    replay: Int
  ) on FIELD_DEFINITION

  """
  Redis keeps the last events of each channel that has subscribers, so that a pod that loses its connection to Redis reads
  what it has missed. It holds for all fields of the topic, with the largest values that any of them gives.
  """
  input EventHistory {
    "Events of each channel, at least."
    size: Int! = 256
    "Seconds for which they are kept after the last pod has left the channel."
    ttl_seconds: Int! = 120
  }

  """
  Sends subscribers only the events that fulfil the conditions. "$name" stands for the value of an argument; the
  condition is dropped if the argument is absent or null. "$viewer.path" stands for a value of the viewer; without that
  value the filter rejects all events.
  """
  directive @filter(where: EventFilter!) on FIELD_DEFINITION

  """
  Leaves events out where they come faster than subscribers want them. An event that comes later supersedes an earlier one
  with the same value of the field conflateBy; without conflateBy, every later one does.
  """
  directive @delivery(
    "What is done where results wait for a slow socket."
    onSlow: SlowPolicy = DISCONNECT
    "An event field, or a path to one: customer.customer_id."
    conflateBy: String
    "At most one event of each value is delivered in so many milliseconds: the latest."
    throttleMs: Int
    "Whether results may be compressed, for clients that offer it."
    compress: Compression = AUTO
  ) on FIELD_DEFINITION

  """
  Lets only those viewers use a field, or the fields of a type, that fulfil all that is asked for; without arguments, all
  that have authenticated. Several @auth must all be fulfilled.
  """
  directive @auth(
    "The viewer's claim is, or contains, one of these values."
    requires: [String!]
    "Path of that claim; role if it is left out."
    claim: String
    "The viewer is the owner."
    owner: AuthOwner
    "The viewer fulfils one of these."
    any: [AuthRule!]
  ) repeatable on FIELD_DEFINITION | OBJECT

  """
  The fields by which other services know the objects of a type, as in Apollo Federation: "upc", "id organization { id }".
  """
  directive @key(fields: String!) repeatable on OBJECT

  """
  The back end that has the fields with @fetched: a GraphQL server at its URL, which is asked for _entities.
  """
  directive @entity(
    backend: String!
    "A query field that returns one entity, for a server that is no subgraph: product(upc: $upc)."
    lookup: String
    "Seconds for which a pod keeps what it has fetched, for later events. Left out: each event asks anew."
    ttl_seconds: Int
  ) on OBJECT

  "A field of an event that comes from elsewhere in its message. One of the arguments names the source."
  directive @from(
    header: String
    "The Kafka key."
    key: Boolean
    "In the whole value, with its envelope: op, source.lsn, after.address.city."
    path: String
    metadata: EventMetadata
  ) on FIELD_DEFINITION

  "Values are numbers of any size, and text with all their digits. Scalars named Long, BigInt and Decimal are so without it."
  directive @digits on SCALAR

  "The entity's back end has the field; the event does not hold it."
  directive @fetched on FIELD_DEFINITION

  "The event's fields that hold the key of the entity: product_id. The event need not hold an object of it."
  directive @reference(fields: String!) on FIELD_DEFINITION

  "All that is asked for must be fulfilled."
  input AuthRule {
    "The viewer's claim is, or contains, one of these values."
    requires: [String!]
    "Path of that claim; role if it is left out."
    claim: String
    "The viewer is the owner."
    owner: AuthOwner
  }

  "Either an argument or a field names the viewer who is let in."
  input AuthOwner {
    "An argument of the field; each element of a list must name the viewer."
    argument: String
    "A field of the event, or of the object that the guarded field belongs to."
    field: String
    "Path of the viewer's value that it is compared with."
    claim: String! = "id"
  }

  enum SlowPolicy {
    "Past SOCKET_BUFFER_BYTES the socket is closed."
    DISCONNECT
    "Of each subscription the oldest are left out."
    DROP_OLDEST
    "The latest of each value of conflateBy is kept."
    CONFLATE
  }

  enum Compression {
    "As COMPRESSION_MIN_BYTES says."
    AUTO
    "Results hold secrets beside text that others may choose."
    NEVER
  }

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
    AVRO
    PROTOBUF
    "JSON behind the id of its schema, as serializers with a registry write it."
    JSON_SCHEMA
  }

  enum EventEnvelope {
    NONE
    "A change of a row, as Debezium writes it: the event is the row after the change."
    DEBEZIUM
    "CloudEvents: the event is the data; the attributes are in headers, or around the data."
    CLOUDEVENTS
  }

  enum EventMetadata {
    "ms since 1970"
    TIMESTAMP
    OFFSET
    PARTITION
    TOPIC
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

/** Directives of the GraphQL cost directives specification. A schema that was written for it declares them itself. */
const COST_SDL = /* GraphQL */ `
  "What a field or an argument costs, or each object of a type; fields that return objects, and objects of a list with @listSize, cost 1 without it."
  directive @cost(weight: String!) on ARGUMENT_DEFINITION | ENUM | FIELD_DEFINITION | OBJECT | SCALAR

  "How many items a list has: the value of an argument, or a number. sizedFields are the lists below the field."
  directive @listSize(
    assumedSize: Int
    slicingArguments: [String!]
    sizedFields: [String!]
    requireOneSlicingArgument: Boolean = true
  ) on FIELD_DEFINITION
`;

const QUERY_SDL = /* GraphQL */ `
  type Query {
    "The gateway's version."
    sluice: String
  }
`;

/** The fields that a router asks of a subgraph, as Apollo Federation has them. */
function federationSdl(query: string, resolvable: ReadonlySet<string>): string {
  const entities = `
    union _Entity = ${[...resolvable].join(' | ')}
    scalar _Any
    extend type ${query} { _entities(representations: [_Any!]!): [_Entity]! }
  `;
  return `
    type _Service { sdl: String! }
    extend type ${query} {
      "The schema for routers that compose it with those of other services."
      _service: _Service!
    }
    ${resolvable.size === 0 ? '' : entities}
  `;
}

const AUTHORS = sourceOf(AUTHORS_SDL);

function sourceOf(sdl: string): Source {
  return new Source(sdl, GATEWAY_SOURCE);
}

/**
 * The schema with the gateway's directives, with a query root where it has none, and, where it has `@key`, with what makes
 * it a subgraph.
 *
 * @param resolvable names of the types whose references the graph resolves
 */
export function withGatewaySchema(
  document: DocumentNode,
  resolvable: ReadonlySet<string> = new Set(),
): DocumentNode {
  const rooted = withRoots(document);
  const isSubgraph = document.definitions.some(
    (definition) =>
      'directives' in definition && definition.directives?.some(({ name }) => name.value === 'key') === true,
  );
  if (!isSubgraph) return rooted;
  const added = definitionsOf(sourceOf(federationSdl(queryRootOf(rooted), resolvable)));
  return { ...rooted, definitions: [...rooted.definitions, ...added] };
}

function queryRootOf({ definitions }: DocumentNode): string {
  for (const definition of definitions) {
    if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION) continue;
    const root = definition.operationTypes?.find(({ operation }) => operation === OperationTypeNode.QUERY);
    if (root !== undefined) return root.type.name.value;
  }
  return 'Query';
}

function withRoots(document: DocumentNode): DocumentNode {
  const declared = new Set(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.DIRECTIVE_DEFINITION ? definition.name.value : [],
    ),
  );
  const cost = definitionsOf(sourceOf(COST_SDL)).filter(
    (definition) => definition.kind === Kind.DIRECTIVE_DEFINITION && !declared.has(definition.name.value),
  );
  const definitions = [...definitionsOf(AUTHORS), ...cost, ...document.definitions];
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
  if (!names(Kind.OBJECT_TYPE_DEFINITION)) definitions.push(...definitionsOf(sourceOf(QUERY_SDL)));
  if (explicit) definitions.push(...definitionsOf(sourceOf('extend schema { query: Query }')));
  return { ...document, definitions };
}

/** All directives of the gateway and their types, as text. */
export function directivesSdl(): string {
  return print({
    kind: Kind.DOCUMENT,
    definitions: [...definitionsOf(AUTHORS), ...definitionsOf(sourceOf(COST_SDL))],
  });
}

/** Whether a definition is the gateway's, and of use only to authors of a schema, not to its clients. */
export function isForAuthors({ astNode }: GraphQLDirective | GraphQLNamedType): boolean {
  return astNode?.loc?.source === AUTHORS;
}

function definitionsOf(source: Source): readonly DefinitionNode[] {
  return parse(source).definitions;
}
