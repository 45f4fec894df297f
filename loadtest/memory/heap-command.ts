/**
 * `yarn heap:diff`: heap snapshots of the gateway with nobody, with everybody waiting, and after a flood; and what has
 * grown from one to the next, by constructor.
 */
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { origin } from '../run/environment.ts';
import { interruption, measure } from '../run/measure.ts';
import { parseOptions, USAGE } from '../run/load-options.ts';
import { sluice } from '../targets/sluice.ts';
import { growth, type Growth } from './heap-growth.ts';
import { summarise, type Summary } from './heap-summary.ts';

/** Lines that are shown; the rest is added up. */
const SHOWN = 40;

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(USAGE.replace('yarn loadtest', 'yarn heap:diff'));
    return;
  }
  const { load, out } = parseOptions(['--singles=10', '--duration=5', ...args], []);
  const folder = out ?? (await mkdtemp(path.join(tmpdir(), 'sluice-heap-')));
  await mkdir(folder, { recursive: true });
  try {
    const summaries: Summary[] = [];
    await measure(sluice, load, {
      phase: (_target, phase) => console.error(phase),
      sample: () => undefined,
      moment: async (name, [server]) => {
        const file = path.join(folder, `${name}.heapsnapshot`);
        await server?.snapshot(file);
        summaries.push(await summarise(file));
      },
      signal: interruption(),
    });
    const [nothing, idle, flood] = summaries;
    if (!nothing || !idle || !flood) throw new Error(`expected three snapshots, got ${summaries.length}`);
    const waiting = growth(nothing, idle, load.sockets);
    const flooded = growth(idle, flood, load.sockets);
    show(`From nobody to ${load.sockets} sockets that wait, for each socket`, waiting);
    show('From waiting to after a flood, for each socket', flooded);
    if (out === undefined) return;
    const made = await origin(['yarn heap:diff', ...args].join(' '));
    const tables = [
      table(`For each of ${load.sockets} sockets that wait`, waiting),
      table('More of it after a flood', flooded),
    ];
    await writeFile(path.join(out, 'heap.json'), JSON.stringify({ kind: 'heap', ...made, tables }, null, 2));
    console.error(`Snapshots, for the memory panel of Chrome's developer tools, and heap.json: ${out}`);
  } finally {
    if (out === undefined) await rm(folder, { recursive: true, force: true });
  }
}

function show(title: string, lines: readonly Growth[]): void {
  const total = lines.reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`\n${title}: ${total.toFixed(0)} bytes on the heap\n`);
  console.log('   bytes   objects  constructor');
  for (const { name, bytes, count, why } of lines.slice(0, SHOWN)) {
    console.log(
      `${bytes.toFixed(1).padStart(8)} ${count.toFixed(2).padStart(9)}  ${name}${why === '' ? '' : `: ${why}`}`,
    );
  }
  const rest = lines.slice(SHOWN).reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`${rest.toFixed(1).padStart(8)}            all others`);
}

/** In a report, lines of less than this are added up. */
const LEAST_BYTES = 20;

function table(title: string, lines: readonly Growth[]): object {
  const large = lines.filter(({ bytes }) => bytes >= LEAST_BYTES);
  const sum = (some: readonly Growth[]): number => some.reduce((total, { bytes }) => total + bytes, 0);
  return {
    title,
    columns: ['constructor', 'bytes', 'objects', 'why'],
    rows: [
      ...large.map(({ name, bytes, count, why }) => [name, bytes, count, why]),
      ['all others', sum(lines) - sum(large), null, ''],
      ['in all', sum(lines), null, ''],
    ],
  };
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
