import type { GraphQLSchema } from 'graphql';
import path from 'node:path';
import { Guards } from '../auth/guards.ts';
import { AuthCheck } from '../check/auth.ts';
import { warnOfAbsentClaims } from '../check/claims.ts';
import { checkCode } from '../check/code.ts';
import { checkEventFields } from '../check/event-fields.ts';
import type { GraphDefinition } from '../api/define-graph.ts';
import type { Findings } from '../diagnostic.ts';
import { resolvableTypes } from '../entities/attach-federation.ts';
import type { Entities } from '../entities/entities.ts';
import { LocalSchemas } from '../encoding/local-schemas.ts';
import { readEntities } from '../entities/read-entities.ts';
import { readEventFields, type EventField } from '../directives/event-field.ts';
import { loadCode } from './graph-code.ts';
import { readSchema, SCHEMA_FILE } from './schema-files.ts';

/** A graph as read from its folder; complete and correct if `findings` has no errors. */
export interface GraphParts {
  readonly schema: GraphQLSchema;
  readonly fields: readonly EventField[];
  readonly definition: GraphDefinition;
  readonly guards: Guards;
  readonly entities: Entities;
  readonly schemas: LocalSchemas;
}

export interface ReadOptions {
  /** Whether modules of the graph's code that have been loaded before are loaded again: see `loadCode`. */
  readonly anew?: boolean;
  /** Names of values that viewers may have by the settings, for warnings; unused if the graph has `authenticate`. */
  readonly claims?: readonly string[] | undefined;
}

/**
 * Reads the graph in a folder and adds its faults to `findings`.
 *
 * @returns undefined if the schema or the code can't be read; then further faults may be undiscovered
 */
export async function readGraph(
  folder: string,
  findings: Findings,
  { anew = false, claims }: ReadOptions = {},
): Promise<GraphParts | undefined> {
  const file = path.join(folder, SCHEMA_FILE);
  const code = await loadCode(folder, findings, anew);
  const schema = await readSchema(folder, findings, resolvableTypes(code?.definition.resolvers));
  if (schema === undefined) return undefined;
  const fields = readEventFields(schema, file, findings);
  const guards = new Guards(schema, file, findings);
  if (code === undefined) return undefined;
  checkCode(code, schema, fields, findings);
  const entities = readEntities(schema, code.definition, file, findings);
  checkEventFields(fields, schema, code.definition, file, findings);
  new AuthCheck(schema, code.definition, file, findings).check(guards);
  if (claims !== undefined && code.definition.authenticate === undefined)
    warnOfAbsentClaims(guards, fields, claims, file, findings);
  const schemas = await LocalSchemas.read(fields, folder, findings);
  return { schema, fields, definition: code.definition, guards, entities, schemas };
}
