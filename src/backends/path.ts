import type { Query } from '../graph/api/backend.ts';

/** Matches most paths: those whose segments can be checked without decoding. */
const PLAIN = /^(?:\/[\w~!$&'()*+,=:@-]+)+\/?$/;

/** Characters that a URL's path may contain: no controls, no spaces, no `?`, `#` or backslash, ASCII only. */
const ALLOWED = /^(?:[\w~!$&'()*+,=:@\-./;]|%[0-9a-fA-F]{2})*$/;

/**
 * Appends a path to a base path. The result stays below the base path, whether the back end decodes segments before or
 * after resolving `..`, and whether or not it removes a `;parameter` as Java servers do.
 *
 * @param base without a slash at its end
 * @param path empty, or beginning with a slash; percent-encoded
 * @throws TypeError that says what was expected, without quoting the path
 */
export function joinPath(base: string, path: string, query?: Query): string {
  if (typeof path !== 'string') throw new TypeError(`expected a path, got ${typeof path}`);
  if (path !== '' && !PLAIN.test(path)) check(path);
  const joined = base + path;
  const search = query === undefined ? '' : queryString(query);
  return (joined === '' ? '/' : joined) + search;
}

function check(path: string): void {
  if (!path.startsWith('/')) throw new TypeError('expected a path that begins with /, got one that does not');
  if (path.includes('?')) {
    throw new TypeError('expected a path without ?, got one with it; queries go into options.query');
  }
  if (!ALLOWED.test(path)) {
    throw new TypeError(
      'expected a path of URL characters, got others; values go in by the tag urlPath`/users/${id}`',
    );
  }
  const segments = path.slice(1).split('/');
  segments.forEach((segment, index) => {
    if (segment === '' && index < segments.length - 1) {
      throw new TypeError('expected a path without empty segments, got one with //');
    }
    checkSegment(segment);
  });
}

function checkSegment(segment: string): void {
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    throw new TypeError('expected a path that is percent-encoded UTF-8, got one that is not');
  }
  for (const piece of decoded.split(/[/\\]/)) {
    const name = piece.split(';', 1)[0];
    if (name === '.' || name === '..') {
      throw new TypeError('expected a path that stays below its base URL, got one with . or .. in it');
    }
  }
}

function queryString(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const item of Array.isArray(value) ? value : [value]) search.append(name, String(item));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}

/**
 * Template tag for paths that contain values. Each value is percent-encoded, so that it is one segment or a part of
 * one:
 *
 *   ctx.backends.uaa.get(urlPath`/users/${id}`)
 *
 * @returns the path
 * @throws TypeError for a value that is no string, number, boolean or bigint, and for an empty string, with which
 *   `/users/${id}` would be the path of all users
 */
export function urlPath(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  return strings.reduce((whole, text, index) => whole + encoded(values[index - 1]) + text);
}

function encoded(value: unknown): string {
  if (value === '' || !['string', 'number', 'boolean', 'bigint'].includes(typeof value)) {
    const got = value === '' ? 'an empty one' : value === null ? 'null' : typeof value;
    throw new TypeError(`expected text, a number or a boolean in a path, got ${got}`);
  }
  return encodeURIComponent(String(value));
}
