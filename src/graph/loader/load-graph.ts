import { type GraphQLSchema, GraphQLObjectType, isAbstractType, isEnumType, validateSchema } from 'graphql';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { SluiceError } from '../../errors.ts';
import { attachAuth } from '../auth/attach-auth.ts';
import { attachResolvers } from './attach-resolvers.ts';
import { bindingsOf, streamsOf, topicsOf } from '../bindings.ts';
import type { GraphDefinition } from '../api/define-graph.ts';
import { attachEntities } from '../entities/attach-entities.ts';
import { attachFederation, resolvableTypes } from '../entities/attach-federation.ts';
import { subgraphSdl } from '../entities/subgraph-sdl.ts';
import { Findings, formatDiagnostic, GATEWAY_SOURCE, type Diagnostic } from '../diagnostic.ts';
import { eventItself, type EventField } from '../directives/event-field.ts';
import type { Graph } from '../graph.ts';
import { publicSchema } from './public-schema.ts';
import { readGraph, type ReadOptions } from './read-graph.ts';

/** A type of no schema: asking whether it is a subtype makes graphql-js cache the subtypes of an abstract type. */
const NONE = new GraphQLObjectType({ name: 'None', fields: {} });

/**
 * Freezes the objects of a schema that resolvers can reach, since all executions share them: through `info`, and as
 * default values, which graphql-js does not copy for resolvers. Functions are not frozen.
 */
export function freezeSchema(schema: GraphQLSchema): void {
  // graphql-js caches its findings in the schema, so it must fill these caches before the schema is frozen.
  validateSchema(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    // graphql-js is asked about each abstract type, even one that no type implements.
    if (isAbstractType(type)) schema.isSubType(type, NONE);
    if (!isEnumType(type)) continue;
    type.getValue('');
    for (const { value } of type.getValues()) type.serialize(value);
  }
  freezeReachable(schema);
}

function freezeReachable(root: object): void {
  const visited = new Set<object>();
  const pending = [root];
  for (let object = pending.pop(); object !== undefined; object = pending.pop()) {
    if (visited.has(object)) continue;
    visited.add(object);
    Object.freeze(object);
    const items = object instanceof Map ? [...(object as Map<unknown, unknown>).values()] : [];
    for (const item of [...items, ...Object.values(object)]) {
      if (typeof item === 'object' && item !== null) pending.push(item as object);
    }
  }
}

export interface LoadedGraph extends Graph {
  /** The definition that the graph author passed to `defineGraph`. */
  readonly definition: GraphDefinition;
  /** The schema for routers that compose it with those of other services. */
  readonly subgraphSdl: string;
  /** Likely mistakes, for the log. */
  readonly warnings: readonly Diagnostic[];
}

/** A graph that can't be used: its message lists every fault, with file, line, column and a hint. */
export class BadGraph extends SluiceError {
  readonly faults: readonly string[];

  constructor(folder: string, faults: readonly Diagnostic[]) {
    const texts = faults.map(formatDiagnostic);
    super('BAD_GRAPH', `the graph in ${folder} can't be used:\n${texts.join('\n')}`);
    this.faults = texts;
  }
}

/**
 * Loads the graph in a folder, with its code.
 *
 * @param folder path of the folder
 * @throws BadGraph
 */
export async function loadGraph(folder: string, options?: ReadOptions): Promise<LoadedGraph> {
  const absolute = path.resolve(folder);
  const findings = new Findings();
  const parts = await readGraph(absolute, findings, options);
  if (parts === undefined || findings.hasErrors) {
    throw new BadGraph(
      absolute,
      findings.all.filter(({ severity }) => severity === 'error'),
    );
  }
  const { fields, definition, guards, entities, schemas } = parts;
  const schema = publicSchema(parts.schema);
  attachResolvers(schema, definition.resolvers ?? {});
  attachEntities(schema, entities, guards, definition.backends);
  const sdl = subgraphSdl(parts.schema, entities, resolvableTypes(definition.resolvers));
  attachFederation(schema, sdl, definition.resolvers);
  await resolveRoots(schema, fields);
  attachAuth(schema, guards);
  freezeSchema(schema);
  const streams = streamsOf(fields);
  return {
    folder: absolute,
    schema,
    bindings: bindingsOf(fields, schema, definition, guards),
    topics: topicsOf(fields, streams, { schema: parts.schema, definition, schemas }),
    streams,
    definition,
    subgraphSdl: sdl,
    hasAuth: guards.all.length > 0,
    hasEntities: [...entities.types.values()].some(({ source }) => source !== undefined),
    hasResolvers: Object.keys(definition.resolvers ?? {}).length > 0,
    warnings: findings.warnings,
  };
}

/** Adds the gateway's own resolvers where the graph has none: subscription fields, and `Query.sluice` (the version). */
async function resolveRoots(schema: GraphQLSchema, fields: readonly EventField[]): Promise<void> {
  for (const { field } of fields) field.resolve ??= eventItself;
  const version = schema.getQueryType()?.getFields()['sluice'];
  if (version === undefined || version.astNode?.loc?.source.name !== GATEWAY_SOURCE) return;
  const manifest = await readFile(new URL('../../../../package.json', import.meta.url), 'utf8');
  const value = String((JSON.parse(manifest) as { version?: unknown }).version);
  version.resolve ??= () => value;
}
