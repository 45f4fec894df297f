import { parseArgs } from 'node:util';
import { parseOptions } from '../run/load-options.ts';
import type { Load } from '../report/report.ts';

/** Clinic's third tool, bubbleprof, hangs on the versions of Node.js that Sluice runs on. */
const TOOLS = ['doctor', 'flame'] as const;

export type Tool = (typeof TOOLS)[number];

export interface Options {
  readonly tool: Tool;
  readonly load: Load;
  /** Folder for what clinic writes; undefined: one named after tool and time. */
  readonly out: string | undefined;
}

export const USAGE = `Usage: yarn clinic ${TOOLS.join('|')} [options]

  --sockets    sockets, one subscription each (1000)
  --seconds    how long events are sent, as many as the gateway takes (10)
  --graph      folder of a graph that answers the load test's query; flat, company: its own (flat)
  --out        folder for what clinic writes`;

/** @throws Error that says what was expected and what came */
export function parseClinicOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      sockets: { type: 'string', default: '1000' },
      seconds: { type: 'string', default: '10' },
      graph: { type: 'string', default: 'flat' },
      out: { type: 'string' },
    },
  });
  const [name, ...more] = positionals;
  const tool = TOOLS.find((one) => one === name);
  if (tool === undefined || more.length > 0) {
    throw new Error(`Expected ${TOOLS.join(' or ')}, got ${positionals.join(' ') || 'nothing'}`);
  }
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 600) {
    throw new Error(`--seconds: expected a number from 1 to 600, got ${values.seconds}`);
  }
  const { load } = parseOptions(
    [`--sockets=${values.sockets}`, `--duration=${seconds}`, `--graph=${values.graph}`],
    [],
  );
  return { tool, load, out: values.out };
}
