import { readFileSync } from 'node:fs';
import { messageOf, SluiceError } from '../errors.ts';
import { contradictions } from './contradictions.ts';
import { SETTINGS, type Config } from './settings.ts';
import type { Setting } from './types.ts';

/**
 * The placeholders in the examples of deploy/kubernetes, such as `REPLACE-WITH-PASSWORD`. They are in capitals, since
 * host names and tags of images in use hardly ever are.
 */
const EXAMPLE = /\bREPLACE-[A-Z][A-Z-]*/;

/** @returns the example's value that stands in a text; undefined if there is none */
export const exampleValue = (text: string): string | undefined => EXAMPLE.exec(text)?.[0];

/**
 * Faults of variables that hold an example's value. All variables are checked, not the settings alone, since a graph's
 * code reads others. A fault shows no more of the value than the example has.
 */
export function exampleFaults(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const example = exampleValue(value ?? '');
    return example === undefined
      ? []
      : [`  ${name}: expected a value of yours, got the example's ${example}`];
  });
}

/**
 * Reads all settings from the environment; an empty variable counts as not set.
 *
 * @returns the settings, frozen
 * @throws SluiceError BAD_SETTINGS: one message that lists, for each fault, what was expected and what came
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults = exampleFaults(env);
  const production = isProduction(env);
  const entries = Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => {
    // Files that become variables, as Kubernetes' secrets do, often end with a newline.
    const given = env[name]?.replace(/[\r\n]+$/, '');
    if (given === undefined || given === '') {
      return [name, production ? setting.inProduction : setting.default];
    }
    const value = setting.parse(given);
    if (value === undefined && exampleValue(given) === undefined)
      faults.push(`  ${name}: expected ${setting.expected}, got ${shown(setting, given)}`);
    return [name, value];
  });
  const config = Object.freeze(Object.fromEntries(entries)) as Config;
  if (faults.length === 0) faults.push(...contradictions(config));
  if (faults.length > 0) {
    throw new SluiceError('BAD_SETTINGS', `these settings can't be used:\n${faults.join('\n')}`);
  }
  return config;
}

/**
 * Reads the file that a setting names.
 *
 * @throws SluiceError BAD_SETTINGS if it can't be read
 */
export function readSettingFile(setting: keyof Config, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const message = `${setting}: expected a file that can be read, got ${file}: ${messageOf(cause)}`;
    throw new SluiceError('BAD_SETTINGS', message, { cause });
  }
}

/** The algorithms that tokens may be signed with; none where no key verifies tokens. */
export function algorithmsOf(config: Config): readonly string[] {
  if (config.AUTH_ALGORITHMS.length > 0) return config.AUTH_ALGORITHMS;
  if (config.AUTH_SECRET !== undefined) return ['HS256'];
  const key = config.AUTH_PUBLIC_KEY ?? config.AUTH_JWKS_URL;
  return key === undefined ? [] : ['RS256', 'ES256', 'EdDSA'];
}

/** The effective settings, one `NAME=value` a line, without secrets. */
export function describeConfig(config: Config): string {
  const inEffect = { ...config, AUTH_ALGORITHMS: algorithmsOf(config) };
  return Object.entries<Setting<unknown>>(SETTINGS)
    .map(([name, setting]) => `${name}=${shown(setting, written(inEffect[name as keyof Config]))}`)
    .join('\n');
}

/** The settings as the Markdown table of docs/reference/settings.md. */
export function configMarkdown(): string {
  const rows = Object.entries<Setting<unknown>>(SETTINGS).map(
    ([name, { expected, help, default: value, inProduction }]) => {
      const elsewhere = inProduction === value ? '' : `, in production ${quoted(inProduction)}`;
      const standard = `${quoted(value)}${elsewhere}`;
      return `| \`${name}\` | ${expected} | ${standard} | ${help} |`;
    },
  );
  return ['| setting | value | default | what it does |', '|---|---|---|---|', ...rows].join('\n');
}

/** Whether the gateway runs in production, where errors cost more than convenience is worth. */
export function isProduction(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['NODE_ENV'] === 'production' || (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
}

function quoted(value: unknown): string {
  return written(value) === '' ? '–' : `\`${written(value)}\``;
}

function written(value: unknown): string {
  return value === undefined ? '' : String(value);
}

/** A value without its secret part. */
function shown(setting: Setting<unknown>, value: string): string {
  if (value === '' || setting.secret === 'no') return value;
  if (setting.secret === 'all') return '(secret)';
  if (!URL.canParse(value)) return '(a value that is not shown, as it may hold a password)';
  const url = new URL(value);
  if (url.password !== '') url.password = '***';
  return url.href;
}
