import { GraphQLError } from 'graphql';

/** The parts of a client's message that may name a persisted document. */
export interface DocumentReference {
  /** As GraphQL over HTTP has it. */
  readonly documentId?: unknown;
  /** `persistedQuery`, as Apollo has it. */
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Whether a message names a persisted document, well or badly: then it needs no text. */
export function namesDocument({ documentId, extensions }: DocumentReference): boolean {
  return documentId != null || extensions?.['persistedQuery'] != null;
}

/** @returns undefined if the message names no persisted document */
export function documentIdOf({
  documentId,
  extensions,
}: DocumentReference): string | GraphQLError | undefined {
  if (documentId != null) {
    return typeof documentId === 'string' ? documentId : bad('documentId to be a text', documentId);
  }
  const reference = extensions?.['persistedQuery'];
  if (reference == null) return undefined;
  const { version, sha256Hash } = reference as Readonly<Record<string, unknown>>;
  if (version === 1 && typeof sha256Hash === 'string') return sha256Hash;
  return bad('extensions.persistedQuery to be {"version": 1, "sha256Hash": <text>}', reference);
}

/** Longest part of a wrong value that is sent back. */
const SHOWN = 100;

function bad(expected: string, got: unknown): GraphQLError {
  const shown = JSON.stringify(got).slice(0, SHOWN);
  return new GraphQLError(`expected ${expected}, got ${shown}`, { extensions: { code: 'BAD_REQUEST' } });
}
