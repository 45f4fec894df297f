import { GraphQLError, BREAK, visit, type DocumentNode } from 'graphql';
import { type Json, isKnown } from '../lazy/reads.ts';
import { documentIdOf, type DocumentReference } from './document-id.ts';
import type { Executor } from './executor.ts';
import type { Operation } from './operation.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import type { Variables } from './variables.ts';

/** The setting `INTROSPECTION`: who may read the schema. */
export type Introspection = 'true' | 'false' | 'viewers';

/** Whether a viewer may read the schema. A viewer `{}`, of which nothing is known, does not count as authenticated. */
function mayIntrospect(introspection: Introspection, viewer: Json): boolean {
  if (introspection !== 'viewers') return introspection === 'true';
  return isKnown(viewer);
}

/** Searched in the text before the document is visited: names are plain ASCII, so it finds every field. */
const MENTIONED = /\b(__schema|__type|_service)\b/;

/** Fields that read the schema; `_service` is Apollo Federation's. */
const READING: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);

/** @returns the first field of the document that reads the schema */
function introspectionField(text: string, document: DocumentNode): string | undefined {
  if (!MENTIONED.test(text)) return undefined;
  let found: string | undefined;
  visit(document, {
    Field: ({ name }) => {
      if (!READING.has(name.value)) return undefined;
      found = name.value;
      return BREAK;
    },
  });
  return found;
}

/** What a client asks for, over any transport. */
export interface OperationRequest extends DocumentReference {
  /** Empty or absent if an id names the document. */
  readonly query?: string | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly variables?: Variables | null | undefined;
}

interface OperationAdmissionOptions {
  readonly executor: Pick<Executor, 'prepare'>;
  /** Undefined: clients send texts. */
  readonly persisted?: Pick<PersistedDocuments, 'find'> | undefined;
  /**
   * True: only persisted documents are executed.
   *
   * @default false
   */
  readonly persistedOnly?: boolean;
  /** @default 'true' */
  readonly introspection?: Introspection;
}

/** Decides which operations clients may run, for all transports. */
export class OperationAdmission {
  readonly #executor: OperationAdmissionOptions['executor'];
  readonly #persisted: OperationAdmissionOptions['persisted'];
  readonly #persistedOnly: boolean;
  readonly #introspection: Introspection;

  constructor({
    executor,
    persisted,
    persistedOnly = false,
    introspection = 'true',
  }: OperationAdmissionOptions) {
    this.#executor = executor;
    this.#persisted = persisted;
    this.#persistedOnly = persistedOnly;
    this.#introspection = introspection;
  }

  /** @returns the operation, the same for an id and for its text; or at least one error. Never throws. */
  prepare(request: OperationRequest, viewer: Json): Operation | readonly GraphQLError[] {
    const text = this.#textOf(request);
    if (text instanceof GraphQLError) return [text];
    const operation = this.#executor.prepare(text, request.operationName, request.variables ?? {});
    if (!('document' in operation) || mayIntrospect(this.#introspection, viewer)) return operation;
    const field = introspectionField(text, operation.document);
    return field === undefined ? operation : [this.#noIntrospection(field)];
  }

  /**
   * For a known id, the manifest's text is used, even if another text comes with the id: some clients send both, and print
   * the text differently than the build.
   */
  #textOf(request: OperationRequest): string | GraphQLError {
    const id = documentIdOf(request);
    if (id instanceof GraphQLError) return id;
    const persisted = id === undefined ? undefined : this.#persisted?.find(id);
    if (persisted !== undefined) return persisted;
    const text = request.query ?? '';
    if (this.#persistedOnly) return id === undefined ? idRequired() : notFound();
    if (id === undefined || text !== '') return text;
    return this.#persisted === undefined ? notSupported() : notFound();
  }

  #noIntrospection(field: string): GraphQLError {
    const whom =
      this.#introspection === 'viewers' ? 'only authenticated viewers read' : 'clients do not read';
    const message = `expected no introspection, as ${whom} the schema (INTROSPECTION), got ${field}`;
    return new GraphQLError(message, { extensions: { code: 'INTROSPECTION_DISABLED' } });
  }
}

function idRequired(): GraphQLError {
  const message =
    'expected the id of a persisted document (documentId or extensions.persistedQuery), got a text';
  return new GraphQLError(message, { extensions: { code: 'PERSISTED_QUERY_ID_REQUIRED' } });
}

/** Apollo Client knows this message, and sends the text then. */
function notFound(): GraphQLError {
  return new GraphQLError('PersistedQueryNotFound', { extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } });
}

/** Apollo Client knows this message, and sends texts from then on. */
function notSupported(): GraphQLError {
  return new GraphQLError('PersistedQueryNotSupported', {
    extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' },
  });
}
