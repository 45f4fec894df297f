import type { BackendDefinition } from '../graph/api/backend-definition.ts';

/** A header whose value is read from the viewer. */
export interface ForwardedHeader {
  /** In lower case. */
  readonly header: string;
  /** Path of the value in the viewer. */
  readonly path: readonly string[];
  /** Text before the value: `Bearer `, or nothing. */
  readonly prefix: string;
}

const BEARER: Omit<ForwardedHeader, 'path'> = { header: 'authorization', prefix: 'Bearer ' };

export function forwardedHeaders(forward: NonNullable<BackendDefinition['forward']>): ForwardedHeader[] {
  if (isList(forward)) {
    return forward.map((text) => {
      const path = text.split('.');
      if (text === 'token') return { ...BEARER, path };
      return { header: `x-viewer-${text.replace(/[._]/g, '-').toLowerCase()}`, path, prefix: '' };
    });
  }
  return Object.entries(forward).map(([header, text]) => ({
    header: header.toLowerCase(),
    path: text.split('.'),
    prefix: '',
  }));
}

/** Array.isArray does not narrow readonly arrays. */
function isList(forward: NonNullable<BackendDefinition['forward']>): forward is readonly string[] {
  return Array.isArray(forward);
}

/**
 * Reads the forwarded values, and no other value of the viewer, since every read is recorded.
 *
 * @returns headers by name; absent and null values are left out
 * @throws TypeError if a value is an object or a list; the message does not quote it
 */
export function viewerHeaders(forward: readonly ForwardedHeader[], viewer: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path, prefix } of forward) {
    const value = valueAt(viewer, path);
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      throw new TypeError(
        `expected text, a number or a boolean at viewer.${path.join('.')}, got ${typeof value}`,
      );
    }
    headers[header] = prefix + String(value);
  }
  return headers;
}

function valueAt(viewer: unknown, path: readonly string[]): unknown {
  let value = viewer;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
