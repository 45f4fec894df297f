import { parseArgs } from 'node:util';
import type { LetterFilter } from '../ingest/dead-letters/filter.ts';
import { UsageError } from './command.ts';

export const DEAD_LETTERS_USAGE = `sluice dead-letters list [--json] [filters]
sluice dead-letters replay [--dry-run] [--json] [filters, or --all]

  --topic <name>       those of messages that came from this topic
  --reason <reason>    those with this reason, for instance not_json
  --since <time>       those of messages of this time or later: 2026-05-01, or 2026-05-01T10:00:00Z
  --until <time>       those of messages from before this time
  --key <text>         those of messages with this key
  --limit <number>     at most so many
  --from <places>      only those from there on: partition/offset of the dead-letter topic, joined by commas
  --json               one JSON object a line
  --dry-run            print what would be sent, and send nothing
  --all                replay without a filter
`;

/** The action that the user asks for, and its options. */
export interface DeadLetterCommand {
  readonly action: 'list' | 'replay';
  readonly filter: LetterFilter;
  /** The most letters to print or replay; Infinity: all. */
  readonly limit: number;
  /** The offset to begin at, by partition of the dead-letter topic. */
  readonly from: ReadonlyMap<number, number>;
  readonly json: boolean;
  readonly dryRun: boolean;
}

const FILTERS = ['topic', 'reason', 'since', 'until', 'key', 'limit'] as const;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  topic: text,
  reason: text,
  since: text,
  until: text,
  key: text,
  limit: text,
  from: text,
  json: flag,
  all: flag,
  'dry-run': flag,
} as const;

/** A time needs a zone, since it would differ between machines without one; a date alone is in UTC. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
const PLACE = /^(\d{1,10})\/(\d{1,15})$/;

/**
 * @param args the arguments after `dead-letters`
 * @throws UsageError, or the errors of util.parseArgs
 */
export function deadLetterCommand(args: readonly string[]): DeadLetterCommand {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  const [action, ...rest] = positionals;
  if ((action !== 'list' && action !== 'replay') || rest.length > 0) {
    throw new UsageError(`expected 'list' or 'replay', got '${positionals.join(' ')}'`);
  }
  const { topic, reason, key } = values;
  const isReplay = action === 'replay';
  for (const option of ['all', 'dry-run'] as const) {
    if (!isReplay && values[option] === true)
      throw new UsageError(`--${option}: expected with replay, got list`);
  }
  if (isReplay && values.all !== true && FILTERS.every((name) => values[name] === undefined)) {
    throw new UsageError(`expected a filter, or --all to replay every dead letter, got neither`);
  }
  return {
    action,
    filter: {
      topic,
      reason,
      since: timeOf('since', values.since),
      until: timeOf('until', values.until),
      key,
    },
    limit: values.limit === undefined ? Infinity : limitOf(values.limit),
    from: values.from === undefined ? new Map() : placesOf(values.from),
    json: values.json === true,
    dryRun: values['dry-run'] === true,
  };
}

/** @returns ms */
function timeOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const time = TIME.test(given) ? Date.parse(given) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new UsageError(`--${option}: expected a time like 2026-05-01T10:00:00Z or 2026-05-01, got ${given}`);
}

function limitOf(given: string): number {
  const limit = Number(given);
  if (/^\d+$/.test(given) && Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new UsageError(`--limit: expected a whole number from 1, got ${given}`);
}

function placesOf(given: string): Map<number, number> {
  const places = given.split(',').map((place) => PLACE.exec(place));
  const result = new Map<number, number>();
  for (const place of places) {
    if (place === null || result.has(Number(place[1]))) {
      throw new UsageError(
        `--from: expected partition/offset, once for each partition, joined by commas, got ${given}`,
      );
    }
    result.set(Number(place[1]), Number(place[2]));
  }
  return result;
}
