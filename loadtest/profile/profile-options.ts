import { UsageError, wholeNumber, type Arguments } from '../command.ts';
import type { Load } from '../report/report.ts';
import {
  graphOption,
  LONGEST_SECONDS,
  readSockets,
  socketsOption,
  STANDARD_LOAD,
} from '../run/load-options.ts';

/** Clinic's third tool, bubbleprof, hangs on the versions of Node.js that Sluice runs on. */
export const TOOLS = ['doctor', 'flame'] as const;

export type Tool = (typeof TOOLS)[number];

export interface Profile {
  readonly tool: Tool;
  readonly load: Load;
  /** The folder for clinic's files; undefined: a folder named after tool and time. */
  readonly out: string | undefined;
}

export const PROFILE_OPTIONS = {
  sockets: socketsOption('1000'),
  seconds: {
    type: 'string',
    default: '10',
    help: 'how long events are sent, as many as the gateway takes',
  },
  graph: graphOption,
  out: { type: 'string', help: 'folder for what clinic writes (loadtest/out/clinic-<tool>-<time>)' },
} as const;

/** @throws UsageError that says what was expected and what came */
export function readProfile({ values, positionals }: Arguments<typeof PROFILE_OPTIONS>): Profile {
  const [name, ...more] = positionals;
  const tool = TOOLS.find((one) => one === name);
  if (tool === undefined || more.length > 0) {
    throw new UsageError(`expected ${TOOLS.join(' or ')}, got ${positionals.join(' ') || 'nothing'}`);
  }
  const load: Load = {
    ...STANDARD_LOAD,
    sockets: readSockets(values.sockets),
    floodSeconds: wholeNumber('seconds', values.seconds, 1, LONGEST_SECONDS),
    graph: values.graph,
  };
  return { tool, load, out: values.out };
}
