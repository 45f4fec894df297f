import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isSpecifiedScalarType,
  type GraphQLNamedOutputType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import type { Described, DescribedObject, DescribedScalar, DescribedValue } from '../../formats/described.ts';
import type { Naming } from '../../formats/decoder.ts';
import { hasResolver, type GraphDefinition } from '../api/define-graph.ts';
import { listed, placeOf, type Findings } from '../diagnostic.ts';
import { fieldsOf } from '../event-type.ts';
import { hasSource } from './from-fields.ts';

interface Compared {
  readonly schema: GraphQLSchema;
  readonly definition: GraphDefinition;
  /** Of the graph's schema. */
  readonly file: string;
  readonly naming: Naming;
  /** Name of the schema that is compared: a file, or a subject. */
  readonly source: string;
  readonly findings: Findings;
}

/** The scalars of GraphQL that take what a schema describes; the first one is to be written. */
const FITTING: Readonly<Record<DescribedScalar, readonly string[]>> = {
  Boolean: ['Boolean'],
  Int: ['Int', 'Float', 'ID', 'String'],
  Long: ['Long', 'Float', 'ID', 'String'],
  Float: ['Float'],
  Decimal: ['Decimal', 'Float', 'String'],
  String: ['String', 'ID'],
  JSON: ['JSON'],
};

/**
 * Compares the type of a topic's events with the schema of its messages: names, types, nullability, values of enums. What
 * differs is a warning, as another version of the schema may have it.
 */
export function checkDescribed(
  type: GraphQLNamedOutputType,
  event: DescribedObject,
  compared: Compared,
): void {
  new DescribedCheck(compared).object(type, event, true);
}

class DescribedCheck {
  readonly #compared: Compared;
  /** Types that have been compared, by definition: objects may hold themselves. */
  readonly #seen = new Map<object, Set<GraphQLNamedOutputType>>();

  constructor(compared: Compared) {
    this.#compared = compared;
  }

  /** @param isEvent whether fields may come from elsewhere in the message */
  object(type: GraphQLNamedOutputType, described: DescribedObject, isEvent = false): void {
    const seen = this.#seen.get(described.definition) ?? new Set();
    if (seen.has(type)) return;
    this.#seen.set(described.definition, seen.add(type));
    const { schema, definition, naming, source } = this.#compared;
    const fields = new Map(described.fields().map((field) => [naming(field.name), field]));
    for (const field of fieldsOf(schema, type)) {
      const { name } = field;
      if (name.startsWith('__') || hasResolver(definition, type.name, name)) continue;
      if (isEvent && hasSource(field)) continue;
      const coordinate = `${type.name}.${name}`;
      const value = fields.get(name);
      if (value === undefined) {
        this.#warn(
          field.astNode,
          `${coordinate} is always null: ${described.name} of ${source} has no such field`,
          `It has ${listed([...fields.keys()])}.`,
        );
        continue;
      }
      this.#value(field.type, value, { coordinate, node: field.astNode });
    }
  }

  #value(type: GraphQLOutputType, { type: described, isNullable }: DescribedValue, field: FieldPlace): void {
    if (isNullable && isNonNullType(type)) {
      const message = `${field.coordinate} is ${type.toString()}, and may be null by ${this.#compared.source}`;
      this.#warn(
        field.node,
        message,
        `Write ${getNullableType(type).toString()}: null is an error at the field otherwise.`,
      );
    }
    const fault = this.#fault(getNullableType(type), described, field);
    if (fault !== undefined) {
      const message = `${field.coordinate} is ${type.toString()}, and ${fault} by ${this.#compared.source}`;
      this.#warn(field.node, message, `Write ${typeText(described)}.`);
    }
  }

  /** @returns what the value is by its schema, if the type does not take it */
  #fault(type: GraphQLOutputType, described: Described, field: FieldPlace): string | undefined {
    const named = getNamedType(type);
    switch (described.kind) {
      case 'list':
        if (!isListType(type)) return isOwnScalar(named) ? undefined : 'a list';
        this.#value(type.ofType, described.of, field);
        return undefined;
      case 'map': {
        if (!isListType(type)) return isOwnScalar(named) ? undefined : 'a map';
        const value = fieldsOf(this.#compared.schema, named).find(({ name }) => name === 'value');
        if (value === undefined) return 'a map';
        this.#value(value.type, described.of, {
          ...field,
          coordinate: `${named.name}.value`,
          node: value.astNode,
        });
        return undefined;
      }
      case 'object':
        if (isListType(type) || !isCompositeType(named)) return isOwnScalar(named) ? undefined : 'an object';
        this.object(named, described);
        return undefined;
      case 'union':
        return this.#unionFault(type, described.members);
      case 'enum':
        if (isListType(type) || isCompositeType(named)) return 'an enum';
        return this.#enumFault(named, described.values);
      case 'scalar':
        if (isListType(type) || isCompositeType(named))
          return described.name === 'JSON' ? undefined : `a ${described.name}`;
        return fits(named, described.name) ? undefined : `a ${described.name}`;
    }
  }

  #unionFault(type: GraphQLOutputType, members: readonly DescribedObject[]): string | undefined {
    const named = getNamedType(type);
    const names = members.map(({ name }) => name).join(' or ');
    if (isListType(type) || !isAbstractType(named)) return isOwnScalar(named) ? undefined : `one of ${names}`;
    const possible = new Map(this.#compared.schema.getPossibleTypes(named).map((one) => [one.name, one]));
    for (const member of members) {
      const one = possible.get(member.name);
      if (one === undefined) return `one of ${names}, and ${member.name} is no type of ${named.name}`;
      this.object(one, member);
    }
    return undefined;
  }

  #enumFault(named: GraphQLNamedOutputType, values: readonly string[]): string | undefined {
    if (!isEnumType(named))
      return isOwnScalar(named) || ['String', 'ID'].includes(named.name) ? undefined : 'an enum';
    // Code of the graph may give the names other values.
    if (this.#compared.definition.resolvers?.[named.name] !== undefined) return undefined;
    const missing = values.filter((value) => named.getValue(value) === undefined);
    return missing.length === 0 ? undefined : `may be ${listed(missing)}, which ${named.name} lacks`;
  }

  #warn(node: FieldPlace['node'], message: string, hint: string): void {
    this.#compared.findings.warning(placeOf(node, this.#compared.file), message, hint);
  }
}

interface FieldPlace {
  readonly coordinate: string;
  readonly node: Parameters<typeof placeOf>[0];
}

function fits(type: GraphQLNamedOutputType, scalar: DescribedScalar): boolean {
  if (isOwnScalar(type)) return true;
  return FITTING[scalar].includes(type.name);
}

/** A custom scalar takes what its code takes. */
function isOwnScalar(type: GraphQLNamedOutputType): boolean {
  return isLeafType(type) && !isEnumType(type) && !isSpecifiedScalarType(type);
}

function typeText(described: Described): string {
  switch (described.kind) {
    case 'list':
      return `a list of ${typeText(described.of.type)}`;
    case 'map':
      return 'a list of objects with key and value, or a scalar of your own';
    case 'object':
      return `an object type, such as ${described.name}`;
    case 'union':
      return `a union of ${described.members.map(({ name }) => name).join(', ')}`;
    case 'enum':
      return `an enum of ${described.values.join(', ')}, or String`;
    case 'scalar':
      return FITTING[described.name].join(' or ');
  }
}
