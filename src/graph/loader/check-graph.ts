import type { GraphQLSchema } from 'graphql';
import path from 'node:path';
import { Findings, listed, startOf, type Diagnostic } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { checkSchemas, type TopicSchema } from '../encoding/check-schemas.ts';
import { checkSubgraph } from '../entities/check-subgraph.ts';
import { readGraph, type ReadOptions } from './read-graph.ts';
import { SCHEMA_FILE } from './schema-files.ts';

interface CheckOptions extends Pick<ReadOptions, 'claims'> {
  /** The schemas of back ends that entities are fetched from. */
  readonly subgraphs?: readonly { readonly backend: string; readonly schema: GraphQLSchema }[];
  /** Finds the schemas of topics whose messages name theirs. */
  readonly registry?: (fields: readonly EventField[]) => Promise<ReadonlyMap<string, TopicSchema>>;
}

/**
 * Finds all faults and likely mistakes of the graph in a folder, sorted by file and line. The graph's code is run, as
 * at start.
 *
 * @param folder path of the folder; if it is relative, so are the paths of files in the result
 */
export async function checkGraph(
  folder: string,
  { claims, subgraphs = [], registry }: CheckOptions = {},
): Promise<readonly Diagnostic[]> {
  const findings = new Findings();
  const parts = await readGraph(folder, findings, { claims });
  if (parts === undefined) return findings.all;
  const file = path.join(folder, SCHEMA_FILE);
  const known = Object.keys(parts.definition.backends ?? {});
  for (const { backend, schema } of subgraphs) {
    if (!known.includes(backend)) {
      const hint = `Back ends of graph.ts: ${listed(known)}.`;
      findings.error(startOf(file), `the graph has no back end "${backend}" to be compared`, hint);
    } else checkSubgraph(parts, backend, schema, file, findings);
  }
  if (!findings.hasErrors) checkSchemas(parts, (await registry?.(parts.fields)) ?? new Map(), file, findings);
  return findings.all;
}
