import { loadConfig } from '../../src/config/config.ts';
import { choice, numberWithin, wholeNumber, type Values } from '../command.ts';
import type { Load } from '../report/report.ts';

/** The default load, for which the budgets were set. */
export const STANDARD_LOAD: Load = {
  sockets: 4_000,
  channels: 0,
  ids: 'unique',
  variables: 'same',
  payloadBytes: 200,
  singles: 100,
  floodSeconds: 15,
  window: 256,
  rate: 0,
  stalled: 0,
  socketBufferBytes: loadConfig({}).SOCKET_BUFFER_BYTES,
  pods: 1,
  workers: 1,
  graph: 'flat',
};

/** The option for the number of sockets, for each subcommand that opens some. */
export const socketsOption = <T extends string>(standard: T) =>
  ({ type: 'string', default: standard, help: 'sockets, one subscription each' }) as const;

export const graphOption = {
  type: 'string',
  default: STANDARD_LOAD.graph,
  help: "folder of a graph that answers the load test's query; flat, company, joined: its own",
} as const;

/** Options that describe a load. @param standard the default of each option */
export function loadOptions(standard: Load) {
  const option = (value: string | number, help: string) =>
    ({ type: 'string', default: String(value), help }) as const;
  return {
    sockets: socketsOption(String(standard.sockets)),
    channels: option(
      standard.channels,
      'deal sockets and events out to so many keys; 0: no key, every socket gets every event',
    ),
    ids: option(standard.ids, 'ids of the subscriptions: same or unique'),
    variables: option(standard.variables, 'variables of the subscriptions: same or unique'),
    payload: option(standard.payloadBytes, 'bytes of a result as JSON'),
    singles: option(standard.singles, 'events sent one at a time'),
    duration: option(standard.floodSeconds, 'seconds of flood'),
    window: option(standard.window, 'events under way in the flood'),
    rate: option(standard.rate, 'events a second in the flood; 0: as many as the window lets through'),
    stalled: option(standard.stalled, 'share of the sockets that stop reading in the flood, 0 to 0.9'),
    pods: option(standard.pods, 'processes of the server, each with a port of its own'),
    workers: option(standard.workers ?? 1, 'processes that share one port (Sluice: WORKERS)'),
    graph: graphOption,
  };
}

const MOST_SOCKETS = 40_000;
export const LONGEST_SECONDS = 600;

export const readSockets = (text: string): number => wholeNumber('sockets', text, 1, MOST_SOCKETS);

export const readPayload = (text: string): number => wholeNumber('payload', text, 120, 60_000);

/** @throws UsageError that says what was expected and what came */
export function readLoad(values: Values<ReturnType<typeof loadOptions>>): Load {
  const integer = (option: keyof typeof values, least: number, most: number): number =>
    wholeNumber(option, values[option], least, most);
  const sockets = readSockets(values.sockets);
  return {
    ...STANDARD_LOAD,
    sockets,
    channels: integer('channels', 0, sockets),
    ids: choice('ids', values.ids, ['same', 'unique']),
    variables: choice('variables', values.variables, ['same', 'unique']),
    payloadBytes: readPayload(values.payload),
    singles: integer('singles', 0, 100_000),
    floodSeconds: integer('duration', 0, LONGEST_SECONDS),
    window: integer('window', 1, 100_000),
    rate: integer('rate', 0, 1_000_000),
    stalled: numberWithin('stalled', values.stalled, 0, 0.9, Number.isFinite),
    pods: integer('pods', 1, 8),
    workers: integer('workers', 1, 8),
    graph: values.graph,
  };
}
