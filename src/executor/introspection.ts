import { BREAK, visit, type DocumentNode } from 'graphql';
import { isKnown, type Json } from '../lazy/reads.ts';

/** The setting `INTROSPECTION`: who may read the schema. */
export type Introspection = 'true' | 'false' | 'viewers';

/** Whether a viewer may read the schema. A viewer `{}`, of which nothing is known, does not count as authenticated. */
export function mayIntrospect(introspection: Introspection, viewer: Json): boolean {
  if (introspection !== 'viewers') return introspection === 'true';
  return isKnown(viewer);
}

/** Searched in the text before the document is visited: names are plain ASCII, so it finds every field. */
const MENTIONED = /\b__(schema|type)\b/;

/** @returns the first field of the document that reads the schema; `__typename` does not */
export function introspectionField(text: string, document: DocumentNode): string | undefined {
  if (!MENTIONED.test(text)) return undefined;
  let found: string | undefined;
  visit(document, {
    Field: ({ name }) => {
      if (name.value !== '__schema' && name.value !== '__type') return undefined;
      found = name.value;
      return BREAK;
    },
  });
  return found;
}
