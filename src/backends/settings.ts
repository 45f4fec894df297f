import type { KeyStyle } from '../events/event.ts';
import type { BackendDefinition, HeaderRecord } from '../graph/api/backend-definition.ts';
import { readBackendUrl } from '../graph/api/backend-url.ts';
import { forwardedHeaders, type ForwardedHeader } from './forward.ts';

/** Smallest, largest and default value of each setting. */
const NUMBERS = {
  timeoutMs: [1, 600_000, 5_000],
  connectTimeoutMs: [1, 600_000, 2_000],
  retries: [0, 10, 2],
  maxConcurrency: [1, 10_000, 50],
  maxWaiting: [0, 1_000_000, 1_000],
  maxResponseBytes: [1, 1_073_741_824, 4_194_304],
  breakerFailures: [1, 1_000_000, 10],
  breakerOpenMs: [1, 600_000, 1_000],
} as const satisfies Record<string, readonly [min: number, max: number, standard: number]>;

type NumberName = keyof typeof NUMBERS;

/** A definition that has been checked, with its defaults filled in. */
export type BackendSettings = Readonly<Record<NumberName | 'headersTimeoutMs', number>> & {
  readonly name: string;
  readonly origin: string;
  /** Path of the URL, without a slash at its end. */
  readonly basePath: string;
  readonly headers: HeaderRecord | (() => HeaderRecord | Promise<HeaderRecord>);
  readonly forward: readonly ForwardedHeader[];
  readonly keys: KeyStyle;
};

const KNOWN: readonly string[] = [
  'url',
  'headers',
  'forward',
  'keys',
  'headersTimeoutMs',
  ...Object.keys(NUMBERS),
];

/** Names of headers (RFC 9110). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Checks a definition and fills in its defaults.
 *
 * @param name of the back end
 * @param faults gets a line for each fault; if it gets any, the returned settings must not be used
 */
export function backendSettings(
  name: string,
  definition: BackendDefinition,
  faults: string[],
): BackendSettings {
  const fault = (key: string, expected: string, got: string): void => {
    faults.push(`  backends.${name}${key}: expected ${expected}, got ${got}`);
  };
  if (!/^[A-Za-z_]\w*$/.test(name)) fault('', 'a name of letters, digits and _', 'another');
  for (const key of Object.keys(definition)) {
    if (!KNOWN.includes(key)) fault(`.${key}`, `one of ${KNOWN.join(', ')}`, 'this name');
  }
  const number = (key: NumberName | 'headersTimeoutMs', [min, max, standard]: readonly number[]): number => {
    const value = definition[key] ?? standard ?? 0;
    if (!Number.isInteger(value) || value < Number(min) || value > Number(max)) {
      fault(`.${key}`, `a whole number from ${min} to ${max}`, String(value));
    }
    return value;
  };
  const numbers = Object.fromEntries(
    Object.entries(NUMBERS).map(([key, range]) => [key, number(key as NumberName, range)]),
  ) as Record<NumberName, number>;

  const read = readBackendUrl(definition.url);
  const url = 'url' in read ? read.url : undefined;
  if (!('url' in read)) fault('.url', read.expected, read.got);
  const { headers = {}, keys = 'SNAKE', forward = [] } = definition;
  if (keys !== 'SNAKE' && keys !== 'KEEP') fault('.keys', 'SNAKE or KEEP', String(keys));
  if (typeof headers === 'object') {
    for (const [header, value] of Object.entries(headers)) {
      if (!TOKEN.test(header)) fault('.headers', "header names of RFC 9110's characters", `"${header}"`);
      if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
        fault(`.headers.${header}`, 'text without line breaks', typeof value);
      }
    }
  }
  const forwarded = forwardedHeaders(forward);
  const taken = new Set(typeof headers === 'object' ? Object.keys(headers).map(lowerCase) : []);
  for (const { header, path } of forwarded) {
    if (!TOKEN.test(header)) fault('.forward', "header names of RFC 9110's characters", `"${header}"`);
    if (path.includes('')) fault('.forward', 'paths like tenant.id', `"${path.join('.')}"`);
    if (taken.has(header)) fault('.forward', 'headers that are named once', `${header} again`);
    taken.add(header);
  }
  return {
    ...numbers,
    name,
    origin: url?.origin ?? '',
    basePath: url?.pathname.replace(/\/+$/, '') ?? '',
    headersTimeoutMs:
      definition.headersTimeoutMs === undefined
        ? numbers.timeoutMs
        : number('headersTimeoutMs', NUMBERS.timeoutMs),
    headers: typeof headers === 'object' ? lowerCaseNames(headers) : headers,
    forward: forwarded,
    keys,
  };
}

const lowerCase = (name: string): string => name.toLowerCase();

/** Headers with their names in lower case, so that two spellings of a name give one header. */
export function lowerCaseNames(headers: HeaderRecord): HeaderRecord {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [lowerCase(name), value]));
}
