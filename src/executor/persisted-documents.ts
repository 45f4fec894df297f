import { createHash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import { messageOf, SluiceError } from '../errors.ts';
import { kindOf } from '../support/kind-of.ts';

/** Ids and texts of documents, from a file that a build has written. Ids are unique. */
type Manifest = ReadonlyMap<string, string>;

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

/** Faults named in one message; the others are counted. */
const MAX_FAULTS = 20;

/** The prefix of an id that is the SHA-256 of the text, as GraphQL over HTTP writes it. */
const SHA256 = 'sha256:';

/** Documents that clients name by an id. Read once for each graph. */
export class PersistedDocuments {
  /** By the ids of the manifest. */
  readonly #texts: Manifest;
  /** By the SHA-256 of the text, in hex: clients of Apollo and of GraphQL over HTTP can name any document by it. */
  readonly #byHash: ReadonlyMap<string, string>;

  private constructor(texts: Manifest) {
    this.#texts = texts;
    this.#byHash = new Map(
      [...texts.values()].map((text) => [createHash('sha256').update(text).digest('hex'), text]),
    );
  }

  /**
   * @param file the path of the manifest, for messages
   * @param check of the executor: the errors of a document
   * @throws SluiceError BAD_SETTINGS if it is no manifest, or names the documents that are not valid
   */
  static load(
    file: string,
    json: string,
    check: (text: string) => readonly GraphQLError[],
  ): PersistedDocuments {
    let texts;
    try {
      texts = parseManifest(json);
    } catch (cause) {
      const message = `PERSISTED_DOCUMENTS: expected a manifest of documents in ${file}: ${messageOf(cause)}`;
      throw new SluiceError('BAD_SETTINGS', message, { cause });
    }
    const faults = [...texts].flatMap(([id, text]) =>
      check(text).map((error) => `  ${id}: ${described(error)}`),
    );
    if (faults.length === 0) return new PersistedDocuments(texts);
    const more = faults.length > MAX_FAULTS ? [`  and ${faults.length - MAX_FAULTS} more`] : [];
    throw new SluiceError(
      'BAD_SETTINGS',
      [
        `PERSISTED_DOCUMENTS: expected documents that are valid for this graph in ${file}, got:`,
        ...faults.slice(0, MAX_FAULTS),
        ...more,
      ].join('\n'),
    );
  }

  /** @param id of the manifest, or the SHA-256 of the text, with or without the prefix `sha256:` */
  find(id: string): string | undefined {
    const bare = id.startsWith(SHA256) ? id.slice(SHA256.length) : id;
    return this.#texts.get(id) ?? this.#texts.get(bare) ?? this.#byHash.get(bare);
  }
}

function described({ message, locations }: GraphQLError): string {
  const [place] = locations ?? [];
  return place === undefined ? message : `${place.line}:${place.column}: ${message}`;
}
