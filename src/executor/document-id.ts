import { GraphQLError } from 'graphql';
import { kindOf } from '../support/kind-of.ts';

/** The parts of a client's message that may name a persisted document. */
export interface DocumentReference {
  /** The id, as in GraphQL over HTTP. */
  readonly documentId?: unknown;
  /** With `persistedQuery`, as in Apollo's protocol. */
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Whether a message names a persisted document, correctly or not: then it needs no text. */
export function namesDocument({ documentId, extensions }: DocumentReference): boolean {
  return documentId != null || extensions?.['persistedQuery'] != null;
}

/** @returns undefined if the message names no persisted document */
export function documentIdOf({
  documentId,
  extensions,
}: DocumentReference): string | GraphQLError | undefined {
  if (documentId != null) {
    return typeof documentId === 'string' ? documentId : bad('documentId to be a text', kindOf(documentId));
  }
  const reference = extensions?.['persistedQuery'];
  if (reference == null) return undefined;
  const { version, sha256Hash } = reference as Readonly<Record<string, unknown>>;
  if (version === 1 && typeof sha256Hash === 'string') return sha256Hash;
  const expected = 'extensions.persistedQuery to be {"version": 1, "sha256Hash": <text>}';
  return bad(expected, typeof reference === 'object' ? 'another object' : kindOf(reference));
}

function bad(expected: string, got: string): GraphQLError {
  return new GraphQLError(`expected ${expected}, got ${got}`, { extensions: { code: 'BAD_REQUEST' } });
}
