import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineCommand } from '../command.ts';
import { origin } from '../report/origin.ts';
import { saveResults } from '../report/result-files.ts';
import type { Load } from '../report/report.ts';
import type { NamedTable } from '../report/sections/tables-section.ts';
import { tableText } from '../report/text-table.ts';
import { loadOptions, readLoad, STANDARD_LOAD } from '../run/load-options.ts';
import { interruption, measure } from '../run/measure.ts';
import { sluice } from '../targets/sluice.ts';
import { growth, type Growth } from './heap-growth.ts';
import { summarise, type Summary } from './heap-summary.ts';

/** The number of lines that are shown; the rest are added up. */
const SHOWN = 40;

/** In saved results, lines of fewer bytes are added up. */
const LEAST_BYTES = 20;

export const command = defineCommand({
  summary: "compares snapshots of the gateway's heap without clients, with all subscribed, and after a flood",
  needsServices: true,
  options: {
    ...loadOptions({ ...STANDARD_LOAD, singles: 10, floodSeconds: 5 }),
    out: { type: 'string', help: 'folder for the snapshots and heap.json; if left out, none are kept' },
  },
  prepare({ values: { out, ...values }, commandLine }) {
    const load = readLoad(values);
    return async () => {
      const folder = out ?? (await mkdtemp(path.join(tmpdir(), 'sluice-heap-')));
      await mkdir(folder, { recursive: true });
      try {
        const { idle, flooded } = await growthUnder(load, folder);
        console.log(shown(`From no client to ${load.sockets} idle sockets, for each socket`, idle));
        console.log(shown('From idle to after a flood, for each socket', flooded));
        if (out === undefined) return;
        const tables = [
          saved(`For each of ${load.sockets} idle sockets`, idle),
          saved('More of it after a flood', flooded),
        ];
        const made = await origin(commandLine);
        await saveResults(path.join(out, 'heap.json'), { kind: 'heap', ...made, tables });
        console.error(`Snapshots, for the memory panel of Chrome's developer tools: ${out}`);
      } finally {
        if (out === undefined) await rm(folder, { recursive: true, force: true });
      }
    };
  },
});

/** @param folder for the snapshots */
async function growthUnder(
  load: Load,
  folder: string,
): Promise<{ readonly idle: readonly Growth[]; readonly flooded: readonly Growth[] }> {
  const summaries: Summary[] = [];
  await measure(sluice, load, {
    phase: (phase) => console.error(phase),
    moment: async (name, [server]) => {
      const file = path.join(folder, `${name}.heapsnapshot`);
      await server?.snapshot(file);
      summaries.push(await summarise(file));
    },
    signal: interruption(),
  });
  const [nothing, idle, flood] = summaries;
  if (!nothing || !idle || !flood) throw new Error(`expected three snapshots, got ${summaries.length}`);
  return { idle: growth(nothing, idle, load.sockets), flooded: growth(idle, flood, load.sockets) };
}

function shown(title: string, lines: readonly Growth[]): string {
  const rows = lines
    .slice(0, SHOWN)
    .map(({ name, bytes, count, why }) => [
      `${name}${why === '' ? '' : `: ${why}`}`,
      bytes.toFixed(1),
      count.toFixed(2),
    ]);
  const rest = ['all others', bytesOf(lines.slice(SHOWN)).toFixed(1), ''];
  const table = tableText({ columns: ['constructor', 'bytes', 'objects'], rows: [...rows, rest] });
  return `\n${title}: ${bytesOf(lines).toFixed(0)} bytes on the heap\n\n${table}`;
}

function saved(title: string, lines: readonly Growth[]): NamedTable {
  const large = lines.filter(({ bytes }) => bytes >= LEAST_BYTES);
  return {
    title,
    columns: ['constructor', 'bytes', 'objects', 'why'],
    rows: [
      ...large.map(({ name, bytes, count, why }) => [name, bytes, count, why]),
      ['all others', bytesOf(lines) - bytesOf(large), null, ''],
      ['in all', bytesOf(lines), null, ''],
    ],
  };
}

function bytesOf(lines: readonly Growth[]): number {
  return lines.reduce((total, { bytes }) => total + bytes, 0);
}
