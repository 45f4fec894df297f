import { kindOf } from '../../support/kind-of.ts';
import { shortened } from '../../support/shortened.ts';

const EXPECTED = 'an http or https URL without credentials, query and fragment';

const MAX_CHARACTERS = 200;

/** A scheme with its slashes, and the rest of the text. */
const SCHEME = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is;

/** Reads a back end's URL for `sluice check` and at start; for a bad one, says what was expected and what came. */
export function readBackendUrl(
  value: unknown,
): { readonly url: URL } | { readonly expected: string; readonly got: string } {
  if (value === undefined || value === '') return { expected: EXPECTED, got: 'nothing' };
  if (typeof value !== 'string') return { expected: EXPECTED, got: kindOf(value) };
  const url = usableUrl(value);
  return url ? { url } : { expected: EXPECTED, got: `"${shortened(withoutSecrets(value), MAX_CHARACTERS)}"` };
}

/** @returns the text with `http://` before it if only the scheme is missing, as in `localhost:5330` */
export function withScheme(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || SCHEME.exec(value)?.[1] !== undefined) return undefined;
  return usableUrl(`http://${value}`) && `http://${value}`;
}

function usableUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const usable =
    ['http:', 'https:'].includes(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '');
  return usable ? url : undefined;
}

/** Leaves out the query, and the text before the last @, since a password may contain any character. */
function withoutSecrets(text: string): string {
  const [, scheme = '', rest = ''] = SCHEME.exec(text) ?? [];
  if (/[?#].*@/s.test(rest)) return `${scheme}…`;
  return scheme + rest.replace(/^.*@/s, '…@').replace(/[?#].*$/s, (query) => `${query.slice(0, 1)}…`);
}
