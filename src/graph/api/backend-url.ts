import { kindOf } from '../../support/kind-of.ts';
import { shortened } from '../../support/shortened.ts';

const EXPECTED = 'an http or https URL without credentials, query and fragment';

const MAX_CHARACTERS = 200;

/** A scheme with its slashes, and what comes after it. */
const SCHEME = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is;

/** The URL of a back end's definition, or what is wrong with it: for `sluice check` and for the start. */
export function readBackendUrl(
  value: unknown,
): { readonly url: URL } | { readonly expected: string; readonly got: string } {
  if (value === undefined || value === '') return { expected: EXPECTED, got: 'nothing' };
  if (typeof value !== 'string') return { expected: EXPECTED, got: kindOf(value) };
  const url = usableUrl(value);
  return url ? { url } : { expected: EXPECTED, got: `"${shortened(withoutSecrets(value), MAX_CHARACTERS)}"` };
}

/** @returns the text with http:// before it if it only lacks that, as `localhost:5330` does */
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

/** A password may contain any character: what comes before the last @ is left out, and so is all that looks like a query. */
function withoutSecrets(text: string): string {
  const [, scheme = '', rest = ''] = SCHEME.exec(text) ?? [];
  if (/[?#].*@/s.test(rest)) return `${scheme}…`;
  return scheme + rest.replace(/^.*@/s, '…@').replace(/[?#].*$/s, (query) => `${query.slice(0, 1)}…`);
}
