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
  directive @key(fields: String!) on OBJECT
  directive @entity(backend: String!) on OBJECT
  directive @fetched on FIELD_DEFINITION

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
  joinTexts(schema);
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

/**
 * Resolves the text of an update for each subscriber, as a router does: with one request for all subscribers that ask for
 * the same at once.
 */
function joinTexts(schema: GraphQLSchema): void {
  const type = schema.getType('Update');
  const field = type && 'getFields' in type ? type.getFields()['body_text'] : undefined;
  if (field?.astNode?.directives?.some(({ name }) => name.value === 'fetched') !== true) return;
  const url = process.env['SUBGRAPH_URL'] ?? '';
  const flying = new Map<string, Promise<string>>();
  Object.assign(field, {
    resolve: ({ seq }: { readonly seq: string }) => {
      const known = flying.get(seq);
      if (known !== undefined) return known;
      const asked = textOf(url, seq).finally(() => flying.delete(seq));
      flying.set(seq, asked);
      return asked;
    },
  });
}

const TEXTS = `query ($all: [_Any!]!) { asked: _entities(representations: $all) { ... on Update { body_text } } }`;

async function textOf(url: string, seq: string): Promise<string> {
  const body = JSON.stringify({ query: TEXTS, variables: { all: [{ __typename: 'Update', seq }] } });
  const response = await fetch(url, { method: 'POST', body });
  const { data } = (await response.json()) as { data: { asked: [{ body_text: string }] } };
  return data.asked[0].body_text;
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
