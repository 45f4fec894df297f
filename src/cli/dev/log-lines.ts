import { harmless } from '../quoted.ts';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

interface Entry {
  readonly level: number;
  readonly time: string;
  readonly msg?: string;
  readonly part?: string;
  readonly err?: { readonly stack?: string };
  readonly [field: string]: unknown;
}

/**
 * A line of the log for people: time, level, part, message, and all else as `name=value`. Further lines of the message,
 * and the stack of an error, follow below.
 */
export function logLine(json: string): string {
  const { level, time, msg = '', part, err, ...rest } = JSON.parse(json) as Entry;
  const [title = '', ...more] = msg.split('\n');
  const who = part === undefined ? '' : `${part}: `;
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${harmless(textOf(value))}`);
  const name = (LEVELS[level] ?? String(level)).padEnd(5);
  const first = [time.slice(11, 19), name, `${who}${harmless(title)}`, ...fields].join(' ');
  const below = [...more, ...(err?.stack?.split('\n') ?? [])].map((line) => `    ${harmless(line.trim())}`);
  return `${[first, ...below].join('\n')}\n`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
