import type { GraphQLSchema } from 'graphql';
import { messageOf } from '../../errors.ts';
import { namingOf } from '../../formats/decoder.ts';
import { rowIn } from '../../formats/describe.ts';
import type { DescribedObject } from '../../formats/described.ts';
import type { GraphDefinition } from '../api/define-graph.ts';
import type { Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { eventTypeOf } from '../event-type.ts';
import { checkDescribed } from './check-described.ts';
import type { LocalSchemas } from './local-schemas.ts';

/** The schema of a topic's values, where messages name theirs. */
export interface TopicSchema {
  /** Where it is from, for messages. */
  readonly source: string;
  /** @throws SchemaFault */
  readonly describe: () => DescribedObject;
}

interface CheckedGraph {
  readonly fields: readonly EventField[];
  readonly schema: GraphQLSchema;
  readonly definition: GraphDefinition;
  readonly schemas: LocalSchemas;
}

/**
 * Compares the types of events with the schemas of their messages.
 *
 * @param known schemas by topic, of a registry
 */
export function checkSchemas(
  { fields, schema, definition, schemas }: CheckedGraph,
  known: ReadonlyMap<string, TopicSchema>,
  file: string,
  findings: Findings,
): void {
  for (const { field, topics, keyStyle, encoding, placeOfArgument } of fields) {
    const local = schemas.get(encoding.format, encoding.schema);
    const found =
      local === undefined
        ? topics.flatMap((topic) => known.get(topic) ?? [])
        : [{ source: encoding.schema ?? '', describe: () => local.describe() }];
    const type = eventTypeOf(schema, field, definition);
    if (type === undefined) continue;
    for (const { source, describe } of found) {
      try {
        const described = describe();
        const event = encoding.envelope === 'DEBEZIUM' ? rowIn(described) : described;
        checkDescribed(type, event, {
          schema,
          definition,
          file,
          naming: namingOf(keyStyle),
          source,
          findings,
        });
      } catch (error) {
        findings.error(
          placeOfArgument('format'),
          `${source}: ${messageOf(error)}`,
          'Types are compared with its objects.',
        );
      }
    }
  }
}
