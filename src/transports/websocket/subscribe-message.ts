import { namesDocument } from '../../executor/document-id.ts';

/**
 * graphql-ws accepts a `subscribe` only with a text in `query`. A message that names a persisted document needs no text: it
 * gets an empty one before graphql-ws sees it.
 */
export function withQueryText(message: Readonly<Record<string, unknown>>): unknown {
  const { type, payload } = message;
  if (type !== 'subscribe' || !isObject(payload) || payload['query'] != null) return message;
  return namesDocument(payload) ? { ...message, payload: { ...payload, query: '' } } : message;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
