import {
  getDirectiveValues,
  buildASTSchema,
  parse,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The definitions that a graph's SDL leaves out, and graphql-js needs. */
const ADDITIONS = parse(/* GraphQL */ `
  directive @event(topic: String!, key: String) on FIELD_DEFINITION

  type Query {
    version: String
  }
`);

/** Returns the events that are published on a trigger. */
export type Listen = (trigger: string) => AsyncIterator<unknown>;

export interface StockGraph {
  readonly schema: GraphQLSchema;
  readonly topics: readonly string[];
  /** Returns all triggers that an event of a topic is published on. */
  triggersOf(topic: string, event: Readonly<Record<string, unknown>>): string[];
}

interface EventField {
  readonly topic: string;
  readonly key: string | undefined;
}

/** Reads a graph that consists of a schema without a Query, and binds its subscription fields to `listen`. */
export async function readGraph(folder: string, prefix: string, listen: Listen): Promise<StockGraph> {
  const document = parse(await readFile(path.join(folder, 'schema.graphql'), 'utf8'));
  const schema = buildASTSchema({
    ...document,
    definitions: [...ADDITIONS.definitions, ...document.definitions],
  });
  const directive = schema.getDirective('event');
  const fields = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  const bound = fields.map((field) => {
    const { topic, key } = eventOf(field, directive);
    field.subscribe = (_source, args: Readonly<Record<string, unknown>>) => {
      const value = key === undefined ? undefined : args[key];
      return listen(prefix + (value == null ? topic : keyTrigger(topic, key, value)));
    };
    field.resolve = (event) => event;
    return { topic, key };
  });
  return {
    schema,
    topics: [...new Set(bound.map(({ topic }) => topic))],
    triggersOf(topic, event) {
      const keys = new Set(bound.flatMap((field) => (field.topic === topic ? [field.key] : [])));
      const triggers = [prefix + topic];
      for (const key of keys) {
        const value = key === undefined ? undefined : event[key];
        if (value != null) triggers.push(prefix + keyTrigger(topic, key, value));
      }
      return triggers;
    },
  };
}

function keyTrigger(topic: string, key: string | undefined, value: unknown): string {
  return `${topic}.${key}.${String(value)}`;
}

function eventOf(
  field: GraphQLField<unknown, unknown>,
  directive: GraphQLDirective | null | undefined,
): EventField {
  const values = directive && field.astNode && getDirectiveValues(directive, field.astNode);
  if (!values) throw new Error(`Expected subscription fields with @event, got ${field.name} without`);
  return { topic: values['topic'] as string, key: values['key'] as string | undefined };
}
