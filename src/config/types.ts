import { isIP } from 'node:net';

/** One setting: how its text is parsed, its default, and its description. */
export interface Setting<T> {
  /** The accepted values, for docs/reference/settings.md and for error messages. */
  readonly expected: string;
  /** @returns undefined if the text is no accepted value */
  readonly parse: (text: string) => T | undefined;
  /** The value if the environment variable is absent or empty. */
  readonly default: T;
  /** The default in production: where `NODE_ENV` is `production`, and in Kubernetes. */
  readonly inProduction: T;
  readonly help: string;
  /** The part of the value that is never printed: nothing, the password of a URL, or all. */
  readonly secret: 'no' | 'password' | 'all';
}

interface Common<T> {
  readonly default: T;
  /** Absent: the same as elsewhere. */
  readonly inProduction?: T;
  readonly help: string;
  readonly secret?: 'password' | 'all';
}

function setting<T>(expected: string, parse: (text: string) => T | undefined, common: Common<T>): Setting<T> {
  const { default: value, inProduction = value, help, secret = 'no' } = common;
  return { expected, parse, default: value, inProduction, help, secret };
}

export const text = (common: Common<string>): Setting<string> => setting('text', (value) => value, common);

export const optionalText = (common: Common<string | undefined>): Setting<string | undefined> =>
  setting('text', (value) => value, common);

export const flag = (common: Common<boolean>): Setting<boolean> =>
  setting('true or false', (value) => ({ true: true, false: false })[value.toLowerCase()], common);

export const integer = (min: number, max: number, common: Common<number>): Setting<number> =>
  setting(
    `a whole number from ${min} to ${max}`,
    (value) => {
      const number = /^\d+$/.test(value) ? Number(value) : NaN;
      return number >= min && number <= max ? number : undefined;
    },
    common,
  );

/** A port to listen on; with 0 the operating system chooses a free one. */
export const port = (common: Common<number>): Setting<number> => integer(0, 65_535, common);

/** A number of processes; the command line replaces `auto` by the number of processors. */
export const workers = (common: Common<number | 'auto'>): Setting<number | 'auto'> =>
  setting(
    'a whole number from 1 to 256, or auto',
    (value) => (value === 'auto' ? value : integer(1, 256, { default: 1, help: '' }).parse(value)),
    common,
  );

export const choice = <const T extends string>(
  choices: readonly T[],
  common: Common<NoInfer<T>>,
): Setting<T> => setting(choices.join(' or '), (value) => choices.find((known) => known === value), common);

export const optionalChoice = <const T extends string>(
  choices: readonly T[],
  common: Common<NoInfer<T> | undefined>,
): Setting<T | undefined> =>
  setting(choices.join(' or '), (value) => choices.find((known) => known === value), common);

/** Several values of a closed list, separated by commas. */
export const choices = <const T extends string>(
  known: readonly T[],
  common: Common<readonly NoInfer<T>[]>,
): Setting<readonly T[]> =>
  setting(
    `one or several, separated by commas, of ${known.join(', ')}`,
    (value) => {
      const items = listOf(value);
      const chosen = known.filter((name) => items.includes(name));
      return items.length > 0 && items.every((item) => chosen.includes(item as T)) ? chosen : undefined;
    },
    common,
  );

/** Texts, separated by commas. */
export const texts = (
  expected: string,
  isOne: (item: string) => boolean,
  common: Common<readonly string[]>,
): Setting<readonly string[]> =>
  setting(
    expected,
    (value) => {
      const items = listOf(value);
      return items.length > 0 && items.every(isOne) ? items : undefined;
    },
    common,
  );

const listOf = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

export const brokers = (common: Common<readonly string[]>): Setting<readonly string[]> =>
  setting(
    'host:port without a scheme, several separated by commas',
    (value) => {
      const items = listOf(value);
      return items.length > 0 && items.every(isBroker) ? items : undefined;
    },
    common,
  );

function isBroker(item: string): boolean {
  const [, digits] = /^[^/\s<>]+:(\d{1,5})$/.exec(item) ?? [];
  return Number(digits) >= 1 && Number(digits) <= 65_535;
}

/** Origins as browsers send them (scheme://host[:port]), or `*` for any. */
export const origins = (common: Common<readonly string[]>): Setting<readonly string[]> =>
  setting(
    'origins like https://www.example.com, several separated by commas, or *',
    (value) => {
      const items = listOf(value);
      return items.length > 0 && items.every((item) => item === '*' || isOrigin(item)) ? items : undefined;
    },
    common,
  );

/** Host names and addresses without port, `*` for any, or `loopback`. */
export const hosts = (
  common: Common<readonly string[] | 'loopback'>,
): Setting<readonly string[] | 'loopback'> =>
  setting(
    'host names without ports, several separated by commas, or *, or loopback',
    (value) => {
      if (value === 'loopback') return value;
      const items = listOf(value.toLowerCase());
      return items.length > 0 && items.every((item) => item === '*' || isHostname(item)) ? items : undefined;
    },
    common,
  );

/** A setting for a text that tells one thing from others. Spaces in it would be misread. */
export const optionalId = (common: Common<string | undefined>): Setting<string | undefined> =>
  setting(
    '1 to 64 letters, digits, dots, dashes and underscores',
    (value) => (/^[\w.-]{1,64}$/.test(value) ? value : undefined),
    common,
  );

/** An address to listen on. */
export const optionalAddress = (common: Common<string | undefined>): Setting<string | undefined> =>
  setting(
    'an IP address, such as 127.0.0.1 or ::',
    (value) => (isIP(value) === 0 ? undefined : value),
    common,
  );

export const optionalUrl = (
  protocols: readonly string[],
  common: Common<string | undefined>,
): Setting<string | undefined> =>
  setting(
    `a URL that begins with ${protocols.map((name) => `${name}//`).join(' or ')}`,
    (value) => (URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined),
    common,
  );

/** A region of AWS, such as `eu-central-1`; a zone such as `eu-central-1a` is refused. */
export const optionalRegion = (common: Common<string | undefined>): Setting<string | undefined> =>
  setting(
    'a region of AWS, such as eu-central-1',
    (value) => (/^[a-z]+(-[a-z]+)+-\d+$/.test(value) ? value : undefined),
    common,
  );

/** Whether a Host header may have the item as its host: an IPv6 address stands in brackets. */
function isHostname(item: string): boolean {
  return URL.canParse(`http://${item}`) && new URL(`http://${item}`).host === item && !/:\d+$/.test(item);
}

function isOrigin(item: string): boolean {
  return URL.canParse(item) && new URL(item).origin === item;
}

/** Addresses and networks (CIDR), or `none`. */
export const addresses = (
  common: Common<readonly string[] | undefined>,
): Setting<readonly string[] | undefined> =>
  setting(
    'addresses and networks like 10.0.0.0/8, several separated by commas, or none',
    (value) => {
      if (value === 'none') return [];
      const items = listOf(value);
      return items.length > 0 && items.every(isNetwork) ? items : undefined;
    },
    common,
  );

function isNetwork(item: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  const most = { 4: 32, 6: 128 }[isIP(address)];
  return most !== undefined && Number(bits ?? 0) <= most;
}

/** Names of properties, joined by dots. */
export const optionalPath = (common: Common<string | undefined>): Setting<string | undefined> =>
  setting('names joined by dots', (value) => (/^[\w-]+(\.[\w-]+)*$/.test(value) ? value : undefined), common);
