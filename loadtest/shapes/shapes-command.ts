import { choice, defineCommand, wholeNumber } from '../command.ts';
import { origin } from '../report/origin.ts';
import { saveResults } from '../report/result-files.ts';
import { tableText } from '../report/text-table.ts';
import { amount, comparison } from '../report/units.ts';
import { interruption } from '../run/measure.ts';
import { againstOption, readAgainst, targetsOf } from '../targets/peers/peers.ts';
import { driverOption, sluiceWith } from '../targets/sluice.ts';
import type { Target } from '../targets/target.ts';
import { median } from '../statistics.ts';
import { ShapeRun } from './shape-run.ts';
import { SHAPES } from './shapes.ts';

const NAMES = Object.keys(SHAPES);

const MOST_ROUNDS = 20;

export const command = defineCommand({
  summary:
    'one figure for each way in which events come: to all, to one, to none, rarely, not at all; and connecting',
  needsServices: true,
  options: {
    shapes: { type: 'string', default: NAMES.join(','), help: 'what is measured' },
    rounds: { type: 'string', default: '2', help: 'how often, with a server of its own each time' },
    driver: driverOption,
    against: againstOption,
    out: { type: 'string', help: 'file for the figures as JSON' },
  },
  prepare({ values, commandLine }) {
    const names = values.shapes.split(',').map((name) => choice('shapes', name, NAMES));
    const rounds = wholeNumber('rounds', values.rounds, 1, MOST_ROUNDS);
    const subject = sluiceWith(values.driver);
    const others = readAgainst(values.against);
    return async () => {
      const signal = interruption();
      const targets = [subject, ...(await targetsOf(others, signal))];
      const [, beside] = targets;
      const compared = beside === undefined ? [] : [`sluice beside ${beside.name}`];
      const columns = ['', ...targets.map(({ name }) => name), ...compared];
      const rows: string[][] = [];
      for (const name of names) rows.push(await rowOf(name, targets, rounds, signal));
      const table = { columns, rows };
      console.log(tableText(table));
      if (values.out === undefined) return;
      const often = rounds === 1 ? 'once each' : `least and most of ${rounds} rounds`;
      const title = `${names.join(', ')}: ${often}`;
      await saveResults(values.out, {
        kind: 'shapes',
        ...(await origin(commandLine)),
        tables: [{ title, ...table }],
      });
    };
  },
});

/** Servers take turns, so that the other load of the machine affects all of them. */
async function rowOf(
  name: string,
  targets: readonly Target[],
  rounds: number,
  signal: AbortSignal,
): Promise<string[]> {
  const shape = SHAPES[name];
  if (shape === undefined) throw new Error(`expected a shape, got ${name}`);
  const measured = targets.map((): number[] => []);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, target] of targets.entries()) {
      signal.throwIfAborted();
      const { value, faults } = await ShapeRun.of(
        shape.adapt?.(target) ?? target,
        shape.load,
        signal,
        (run) => shape.measure(run),
      );
      measured[index]?.push(value);
      console.error(`${name}, ${target.name}, round ${round}: ${amount(value)}`);
      for (const fault of faults) console.error(`✗ ${name}, ${target.name}: ${fault}`);
      if (faults.length > 0) process.exitCode = 1;
    }
  }
  const [one, beside] = measured.map(median);
  const quotient = one !== undefined && beside !== undefined ? [comparison(one / beside)] : [];
  return [shape.figure, ...measured.map(spread), ...quotient];
}

function spread(values: readonly number[]): string {
  const [least, most] = [amount(Math.min(...values)), amount(Math.max(...values))];
  return least === most ? least : `${least}–${most}`;
}
