import type { BackendDefinition } from '../graph/api/backend-definition.ts';

/** A viewer value that travels as a header. */
export interface ForwardedHeader {
  /** In small letters. */
  readonly header: string;
  readonly path: readonly string[];
  /** What comes before the value. */
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
 * Reads of the viewer what is forwarded, and nothing else, so that a recording viewer notes just that.
 *
 * @throws TypeError for an object or a list; it doesn't quote the value
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
