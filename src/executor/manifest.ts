import { kindOf } from '../support/kind-of.ts';

/** Ids and texts of documents, from a file that a build has written. Ids are unique. */
export type Manifest = ReadonlyMap<string, string>;

const APOLLO = 'apollo-persisted-query-manifest';

/**
 * Reads a manifest of one of these forms, recognised by its shape:
 *
 * - Apollo's: `{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id", "body", …}]}`
 * - An object of ids and texts: Relay's `{"<md5>": "<text>"}`, and any other `{"<id>": "<text>"}`
 *
 * @throws Error that says what was expected and what came
 */
export function parseManifest(json: string): Manifest {
  const value = JSON.parse(json) as unknown;
  if (!isObject(value)) {
    throw new Error(`expected an object of ids and texts, or the manifest of Apollo, got ${kindOf(value)}`);
  }
  const entries = Array.isArray(value['operations']) ? ofApollo(value) : Object.entries(value);
  const manifest = new Map<string, string>();
  for (const [id, text] of entries) {
    if (id === '') throw new Error('expected an id for each document, got an empty one');
    if (typeof text !== 'string')
      throw new Error(`${id}: expected the text of a document, got ${kindOf(text)}`);
    if ((manifest.get(id) ?? text) !== text) throw new Error(`${id}: expected one text for the id, got two`);
    manifest.set(id, text);
  }
  if (manifest.size === 0) throw new Error('expected at least one document, got none');
  return manifest;
}

function ofApollo(manifest: Readonly<Record<string, unknown>>): [string, unknown][] {
  const { format, version, operations } = manifest;
  if (format !== APOLLO || version !== 1) {
    const got = `${JSON.stringify(format)}, version ${JSON.stringify(version)}`;
    throw new Error(`expected the format "${APOLLO}", version 1, got ${got}`);
  }
  return (operations as unknown[]).map((operation, index) => {
    const { id, body } = isObject(operation) ? operation : {};
    if (typeof id === 'string') return [id, body];
    throw new Error(`operations[${index}]: expected an object with an id that is a text, got ${kindOf(id)}`);
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
