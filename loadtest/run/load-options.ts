import { parseArgs } from 'node:util';
import { loadConfig } from '../../src/config.ts';
import type { Load } from '../report/report.ts';

export interface Options {
  readonly load: Load;
  /** Other servers that get the same load, after Sluice. */
  readonly against: readonly string[];
  /** Folder for the report; undefined: one named after time and commit. */
  readonly out: string | undefined;
}

interface Described {
  readonly type: 'string';
  readonly default?: string;
  readonly help: string;
}

const OPTIONS = {
  sockets: { type: 'string', default: '4000', help: 'sockets, one subscription each' },
  channels: {
    type: 'string',
    default: '0',
    help: 'deal sockets and events out to so many keys; 0: no key, everybody gets everything',
  },
  ids: { type: 'string', default: 'unique', help: 'ids of the subscriptions: same or unique' },
  variables: { type: 'string', default: 'same', help: 'variables of the subscriptions: same or unique' },
  payload: { type: 'string', default: '200', help: 'bytes of a result as JSON' },
  singles: { type: 'string', default: '100', help: 'events sent one at a time' },
  duration: { type: 'string', default: '15', help: 'seconds of flood' },
  window: { type: 'string', default: '256', help: 'events under way in the flood' },
  rate: {
    type: 'string',
    default: '0',
    help: 'events a second in the flood; 0: as many as the window lets through',
  },
  stalled: {
    type: 'string',
    default: '0',
    help: 'share of the sockets that stop reading in the flood, 0 to 1',
  },
  pods: { type: 'string', default: '1', help: 'processes of the server, each with a port of its own' },
  workers: { type: 'string', default: '1', help: 'processes that share one port (Sluice: WORKERS)' },
  graph: {
    type: 'string',
    default: 'flat',
    help: "folder of a graph that answers the load test's query; flat, company: its own",
  },
  against: { type: 'string', help: 'another server under the same load: stock' },
  out: { type: 'string', help: 'folder for report.json, report.html and plots' },
} as const satisfies Record<string, Described>;

const MOST_SOCKETS = 40_000;
const LONGEST_SECONDS = 600;

export const USAGE = [
  'Usage: yarn loadtest [options]',
  '',
  ...Object.entries<Described>(OPTIONS).map(([name, { help, default: standard }]) => {
    return `  --${name.padEnd(10)} ${help}${standard === undefined ? '' : ` (${standard})`}`;
  }),
].join('\n');

/** @throws Error that says what was expected and what came */
export function parseOptions(args: readonly string[], targets: readonly string[]): Options {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const integer = (name: keyof typeof values, least: number, most: number): number =>
    within(name, values[name], least, most, Number.isInteger);
  const choice = <T extends string>(name: keyof typeof values, known: readonly T[]): T => {
    const value = known.find((one) => one === values[name]);
    if (value === undefined)
      throw new Error(`--${name}: expected ${known.join(' or ')}, got ${values[name]}`);
    return value;
  };
  const sockets = integer('sockets', 1, MOST_SOCKETS);
  return {
    load: {
      sockets,
      channels: integer('channels', 0, sockets),
      ids: choice('ids', ['same', 'unique']),
      variables: choice('variables', ['same', 'unique']),
      payloadBytes: integer('payload', 120, 60_000),
      singles: integer('singles', 0, 100_000),
      floodSeconds: integer('duration', 0, LONGEST_SECONDS),
      window: integer('window', 1, 100_000),
      rate: integer('rate', 0, 1_000_000),
      stalled: within('stalled', values.stalled, 0, 0.9, Number.isFinite),
      socketBufferBytes: loadConfig({}).SOCKET_BUFFER_BYTES,
      pods: integer('pods', 1, 8),
      workers: integer('workers', 1, 8),
      graph: values.graph,
    },
    against: values.against === undefined ? [] : [choice('against', targets)],
    out: values.out,
  };
}

function within(
  name: string,
  text: string | undefined,
  least: number,
  most: number,
  fits: (value: number) => boolean,
): number {
  const value = Number(text);
  if (text === '' || !fits(value) || value < least || value > most) {
    throw new Error(`--${name}: expected a number from ${least} to ${most}, got ${text}`);
  }
  return value;
}
