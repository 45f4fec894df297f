import {
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import { DEFINITION_PROPERTIES, type GraphDefinition } from '../api/define-graph.ts';
import { isRecord } from '../../support/kind-of.ts';
import { readBackendUrl, withScheme } from '../api/backend-url.ts';
import { GATEWAY_SOURCE, listed, type Findings } from '../diagnostic.ts';
import { hasDirective } from '../entities/entities.ts';
import { REFERENCE_RESOLVER } from '../entities/attach-federation.ts';
import type { EventField } from '../directives/event-field.ts';
import type { GraphCode } from '../loader/graph-code.ts';

/** Compares the definition with the schema: a property that the gateway would ignore is an error. */
export function checkCode(
  code: GraphCode,
  schema: GraphQLSchema,
  fields: readonly EventField[],
  findings: Findings,
): void {
  const known: readonly string[] = DEFINITION_PROPERTIES;
  for (const name of Object.keys(code.definition)) {
    if (known.includes(name)) continue;
    findings.error(code.locate(name), `defineGraph does not know "${name}"`, `It knows ${listed(known)}.`);
  }
  checkDecode(code, fields, findings);
  checkFunctions(code, findings);
  const { resolvers } = code.definition as Readonly<Record<keyof GraphDefinition, unknown>>;
  if (resolvers === undefined) return;
  if (!isRecord(resolvers)) {
    const message = `resolvers: expected an object, got ${describe(resolvers)}`;
    findings.error(code.locate('resolvers'), message, 'Write resolvers: { Type: { field: (event) => … } }.');
    return;
  }
  for (const [name, value] of Object.entries(resolvers)) {
    const type = schema.getType(name);
    const at = code.locate('resolvers', name);
    if (type === undefined || name.startsWith('__')) {
      const message = `resolvers.${name}: the schema has no type "${name}"`;
      findings.error(at, message, `Types: ${listed(ownTypes(schema))}.`);
    } else if (!isRecord(value)) {
      findings.error(
        at,
        `resolvers.${name}: expected an object, got ${describe(value)}`,
        'Resolvers stand under the fields of their type.',
      );
    } else {
      checkType(code, type, value, findings);
    }
  }
}

const DECODE_HINT = 'Write ({ value, key, headers, topic, partition, offset, timestamp }) => event.';

function checkDecode(code: GraphCode, fields: readonly EventField[], findings: Findings): void {
  const { decode } = code.definition as Readonly<Record<keyof GraphDefinition, unknown>>;
  if (decode === undefined) return;
  const named = [...new Set(fields.flatMap(({ topics }) => topics))];
  if (!isRecord(decode)) {
    const message = `decode: expected an object, got ${describe(decode)}`;
    findings.error(code.locate('decode'), message, 'Write decode: { topic: ({ value }) => … }.');
    return;
  }
  for (const [topic, value] of Object.entries(decode)) {
    const at = code.locate('decode', topic);
    if (!named.includes(topic)) {
      const message = `decode: no @event names the topic "${topic}"`;
      findings.error(at, message, `Topics: ${listed(named)}.`);
    } else if (typeof value !== 'function') {
      const message = `decode["${topic}"]: expected a function, got ${describe(value)}`;
      findings.error(at, message, DECODE_HINT);
    } else if (value.length > 1) {
      const message = `decode["${topic}"]: expected a function of one argument, got one of ${value.length}`;
      findings.error(at, message, DECODE_HINT);
    }
  }
}

const FUNCTIONS = ['authenticate', 'loaders', 'viewerLoaders', 'primers', 'context'] as const;

function checkFunctions(code: GraphCode, findings: Findings): void {
  const definition = code.definition as Readonly<Record<string, unknown>>;
  for (const name of FUNCTIONS) {
    const value = definition[name];
    if (value === undefined || typeof value === 'function') continue;
    const hint =
      name === 'authenticate' ? 'Write (connectionParams, request) => viewer.' : 'Write (ctx) => ({ … }).';
    findings.error(code.locate(name), `${name}: expected a function, got ${describe(value)}`, hint);
  }
  const { backends } = definition;
  if (backends === undefined) return;
  if (!isRecord(backends)) {
    const message = `backends: expected an object, got ${describe(backends)}`;
    findings.error(code.locate('backends'), message, 'Write backends: { name: { url: … } }.');
    return;
  }
  for (const [name, backend] of Object.entries(backends)) {
    if (!isRecord(backend)) continue;
    const { url, forward } = backend;
    checkUrl(code, name, url, findings);
    if (typeof forward !== 'object' || forward === null || Object.keys(forward).length === 0) continue;
    findings.warning(
      code.locate('backends', name),
      `backends.${name} forwards values of the viewer: subscribers share results that use it only if these values are equal`,
      'With a token each subscriber needs an execution of its own. Use service credentials (headers) where responses are equal for all viewers.',
    );
  }
}

/** A URL that is not set is a warning: its environment variable may be missing on purpose where the check runs. */
function checkUrl(code: GraphCode, name: string, url: unknown, findings: Findings): void {
  const read = readBackendUrl(url);
  if ('url' in read) return;
  const at = code.locate('backends', name, 'url');
  const message = `backends.${name}.url: expected ${read.expected}, got ${read.got}`;
  if (read.got === 'nothing') {
    findings.warning(
      at,
      message,
      'If it comes from an environment variable, that is not set here: a gateway without it does not start.',
    );
  } else {
    const written = withScheme(url);
    const hint = written === undefined ? 'Write http://host:port/path.' : `Write ${written}.`;
    findings.error(at, message, `${hint} Credentials belong in headers.`);
  }
}

/** Reports code that a type has no place for, and code that is not of the expected JavaScript type. */
function checkType(
  code: GraphCode,
  type: GraphQLNamedType,
  resolvers: Readonly<Record<string, unknown>>,
  findings: Findings,
): void {
  const slots = slotsOf(type);
  for (const [name, value] of Object.entries(resolvers)) {
    const at = code.locate('resolvers', type.name, name);
    if (isScalarInstance(resolvers) && isScalarType(type)) continue;
    if (!slots.includes(name)) {
      const message = `resolvers.${type.name}.${name}: the schema has no ${type.name}.${name}`;
      const hint = isInterfaceType(type)
        ? `Fields are resolved on the types that implement ${type.name}; it takes __resolveType.`
        : `${type.name} takes code for ${listed(slots)}.`;
      findings.error(at, message, hint);
    } else if (isEnumType(type)) {
      if (['string', 'number', 'boolean'].includes(typeof value)) continue;
      const message = `resolvers.${type.name}.${name}: expected text, a number or a boolean, got ${describe(value)}`;
      findings.error(at, message, 'It is what events hold for this value.');
    } else if (typeof value !== 'function') {
      const message = `resolvers.${type.name}.${name}: expected a function, got ${describe(value)}`;
      findings.error(at, message, 'Write (source, args, context, info) => value.');
    }
  }
}

function slotsOf(type: GraphQLNamedType): string[] {
  if (isObjectType(type)) {
    const names = [...Object.keys(type.getFields()), '__isTypeOf'];
    return hasDirective(type, 'key') ? [...names, REFERENCE_RESOLVER] : names;
  }
  if (isAbstractType(type)) return ['__resolveType'];
  if (isEnumType(type)) return type.getValues().map(({ name }) => name);
  if (isScalarType(type) && !isSpecifiedScalarType(type)) return ['serialize', 'parseValue', 'parseLiteral'];
  return [];
}

/**
 * Whether it is a `GraphQLScalarType`, which has more properties than its three functions; any copy of graphql counts.
 */
function isScalarInstance(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object GraphQLScalarType]';
}

/** Names of the types that the graph's author has written, for which resolvers can be written. */
function ownTypes(schema: GraphQLSchema): string[] {
  const types = Object.values(schema.getTypeMap()).filter((type) => {
    const source = type.astNode?.loc?.source.name;
    return source !== undefined && source !== GATEWAY_SOURCE;
  });
  return types.map(({ name }) => name);
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
