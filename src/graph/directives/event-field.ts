import {
  getDirectiveValues,
  GraphQLError,
  isEnumType,
  isInterfaceType,
  isObjectType,
  Kind,
  print,
  type ConstDirectiveNode,
  type ConstValueNode,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { placeOf, placeOfError, type Findings, type Place } from '../diagnostic.ts';
import { nearest } from '../../support/nearest.ts';
import { readEncoding, type Encoding } from '../encoding/encoding.ts';
import { readDelivery, type DeliverySyntax } from './delivery.ts';
import { keptFor, readHistory, readReplay } from './history.ts';
import { streamOf } from '../topics.ts';
import { readTopics } from './topics.ts';
import { readFilter, type Condition } from '../filter/syntax.ts';
import type { KeyStyle } from '../../events/event.ts';
import type { HistorySettings } from '../../events/history-settings.ts';

/** Where ingest reads the value of the key: in the event, or in the Kafka key of the message. */
type KeySource = 'EVENT' | 'KAFKA_KEY';

/** A subscription field with the values of its directives, not yet compared with the types of the schema. */
export interface EventField {
  readonly field: GraphQLField<unknown, unknown>;
  /** Names of topics and patterns, each once. */
  readonly topics: readonly string[];
  /** The name of the stream that they make. */
  readonly stream: string;
  /** Name of an event field, or names separated by dots. */
  readonly key: string | undefined;
  /** Name of the argument that picks by the key; undefined if there is neither argument nor key. */
  readonly argument: string | undefined;
  readonly keyStyle: KeyStyle;
  readonly keyFrom: KeySource;
  readonly encoding: Encoding;
  readonly condition: Condition | undefined;
  /** Undefined if the field has no `@delivery`. */
  readonly delivery: DeliverySyntax | undefined;
  readonly shares: boolean;
  readonly history: HistorySettings | undefined;
  /** Number of past events that a subscription begins with; 0: none. */
  readonly replay: number;
  readonly place: Place;
  /** Position of the value of an argument of `@event`, or of the directive if the argument is left out. */
  placeOfArgument(name: string): Place;
  /** Position of the value of an argument of `@delivery`, or of the directive if the argument is left out. */
  placeOfDelivery(name: string): Place;
}

/** Resolves a subscription field for which the graph has no resolver; reads neither arguments nor context. */
export function eventItself(event: unknown): unknown {
  return event;
}

/** Reads `@event`, `@filter` and `@delivery` of every subscription field. */
export function readEventFields(schema: GraphQLSchema, file: string, findings: Findings): EventField[] {
  const subscription = schema.getSubscriptionType();
  const fields = Object.values(subscription?.getFields() ?? {});
  refuseStrayDirectives(schema, file, findings);
  return fields.flatMap((field) => readEventField(schema, field, file, findings) ?? []);
}

function readEventField(
  schema: GraphQLSchema,
  field: EventField['field'],
  file: string,
  findings: Findings,
): EventField | undefined {
  const place = placeOf(field.astNode?.name, file);
  const node = directiveOf(field, 'event');
  if (node === undefined) {
    const message = `Subscription.${field.name} has no @event, which names its topic`;
    findings.error(place, message, 'Add @event(topic: "…").');
    return undefined;
  }
  const values = valuesOf(schema, field, 'event', file, findings);
  if (values === undefined) return undefined;
  const valueOf = (name: string) => argumentOf(node, name);
  const placeOfArgument = (name: string) => placeOf(valueOf(name) ?? node, file);
  const delivery = directiveOf(field, 'delivery');
  const placeOfDelivery = (name: string) =>
    placeOf((delivery && argumentOf(delivery, name)) ?? delivery, file);
  const delivered = delivery && valuesOf(schema, field, 'delivery', file, findings);
  const topics = readTopics(values, placeOfArgument, findings);
  if (topics === undefined) return undefined;
  const key = typeof values['key'] === 'string' ? values['key'] : undefined;
  const replay = readReplay(values['replay'], placeOfArgument('replay'), findings);
  return {
    field,
    topics,
    stream: streamOf(topics),
    key,
    argument: typeof values['argument'] === 'string' ? values['argument'] : key?.split('.').at(-1),
    keyFrom: values['keyFrom'] === 'KAFKA_KEY' ? 'KAFKA_KEY' : 'EVENT',
    keyStyle: values['keys'] === 'KEEP' ? 'KEEP' : 'SNAKE',
    encoding: readEncoding(values),
    condition: readCondition(schema, field, file, findings),
    delivery: delivered && readDelivery(delivered, placeOfDelivery, findings),
    shares: values['sharing'] !== 'NEVER',
    history: keptFor(readHistory(values['history'], valueOf('history'), file, findings), replay),
    replay,
    place,
    placeOfArgument,
    placeOfDelivery,
  };
}

function readCondition(
  schema: GraphQLSchema,
  field: EventField['field'],
  file: string,
  findings: Findings,
): Condition | undefined {
  const node = directiveOf(field, 'filter');
  if (node === undefined || valuesOf(schema, field, 'filter', file, findings) === undefined) return undefined;
  const where = argumentOf(node, 'where');
  return where && readFilter(where, file, findings);
}

function directiveOf(field: EventField['field'], name: string): ConstDirectiveNode | undefined {
  return field.astNode?.directives?.find((directive) => directive.name.value === name);
}

function argumentOf(node: ConstDirectiveNode, name: string): ConstValueNode | undefined {
  return node.arguments?.find((argument) => argument.name.value === name)?.value;
}

function valuesOf(
  schema: GraphQLSchema,
  field: EventField['field'],
  name: string,
  file: string,
  findings: Findings,
): Readonly<Record<string, unknown>> | undefined {
  const directive = schema.getDirective(name);
  if (!directive || !field.astNode) return undefined;
  const node = directiveOf(field, name);
  if (node !== undefined && refuseUnknownValues(directive, node, file, findings)) return undefined;
  try {
    return getDirectiveValues(directive, field.astNode);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const known = directive.args.map((argument) => describeArgument(argument)).join(', ');
    findings.error(placeOfError(error, file), error.message, `@${name} takes ${known}.`);
    return undefined;
  }
}

/** Hints for arguments of `@event` with an unknown value, by argument. */
const INSTEAD: Readonly<Record<string, string>> = {
  format:
    "For another format, leave it out, and give the graph's code a function that makes events of the topic's messages: decode: { topic: ({ value }) => … }.",
  keyFrom: 'Leave it out to read the key from each event; KAFKA_KEY if the Kafka key holds the same value.',
};

/** Reports each argument with a value that its enum type lacks. @returns whether there is one */
function refuseUnknownValues(
  { args }: GraphQLDirective,
  node: ConstDirectiveNode,
  file: string,
  findings: Findings,
): boolean {
  let isUnknown = false;
  for (const { name, type } of args) {
    const value = argumentOf(node, name);
    if (value === undefined || value.kind === Kind.NULL || !isEnumType(type)) continue;
    if (value.kind === Kind.ENUM && type.getValue(value.value)) continue;
    isUnknown = true;
    const values = type.getValues().map((known) => known.name);
    const message = `${name}: expected ${values.join(' or ')}, got ${print(value)}`;
    const isQuoted = value.kind === Kind.STRING && type.getValue(value.value);
    const meant = nearest(print(value).replaceAll('"', '').toUpperCase(), values);
    const guess = meant === undefined ? '' : `Did you mean ${meant}? `;
    const hint = isQuoted
      ? `Write ${name}: ${value.value}, without quotes.`
      : guess + (INSTEAD[name] ?? 'Leave it out for its default.');
    findings.error(placeOf(value, file), message, hint);
  }
  return isUnknown;
}

function describeArgument({ name, type }: GraphQLArgument): string {
  return `${name}: ${type.toString()}`;
}

/** The directives have an effect on subscription fields only, so on other fields they are errors. */
function refuseStrayDirectives(schema: GraphQLSchema, file: string, findings: Findings): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type === schema.getSubscriptionType() || !(isObjectType(type) || isInterfaceType(type))) continue;
    for (const { name, astNode } of Object.values(type.getFields())) {
      for (const directive of astNode?.directives ?? []) {
        if (!['event', 'filter', 'delivery'].includes(directive.name.value)) continue;
        const message = `@${directive.name.value} has no meaning on ${type.name}.${name}`;
        findings.error(placeOf(directive, file), message, 'It belongs on fields of the Subscription type.');
      }
    }
  }
}
