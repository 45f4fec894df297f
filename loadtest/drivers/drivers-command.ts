import { defineCommand, UsageError, wholeNumber } from '../command.ts';
import { origin } from '../report/origin.ts';
import { saveResults } from '../report/result-files.ts';
import type { NamedTable } from '../report/sections/tables-section.ts';
import { tableText } from '../report/text-table.ts';
import { interruption } from '../run/measure.ts';
import { given } from '../run/wiring.ts';
import { DRIVER_CASES, type DriverCase } from './driver-case.ts';
import { costsInFlood, costsOfSingles } from './driver-costs.ts';
import { measureStall, type StallCase } from './driver-stall.ts';

const NAMES = DRIVER_CASES.map(({ name }) => name);

/** The rate of events that come one at a time, a second. */
const RATE = 50;

const MOST_EVENTS = 10_000_000;
const MOST_SECONDS = 600;
const MOST_ROUNDS = 20;

const COSTS = [
  { name: 'flood: CPU an event, µs', digits: 1 },
  { name: 'flood: most resident, MB', digits: 0 },
  { name: 'singles: CPU an event, ms', digits: 1 },
  { name: 'singles: most resident, MB', digits: 0 },
];

type TextTable = NamedTable & { readonly rows: readonly (readonly string[])[] };

export const command = defineCommand({
  summary:
    'what an event costs by each Kafka client, and how long partitions stand still when a pod is started anew',
  needsServices: true,
  options: {
    drivers: { type: 'string', default: NAMES.join(','), help: 'clients, and their protocols of groups' },
    events: { type: 'string', default: '200000', help: 'events of the flood' },
    seconds: { type: 'string', default: '10', help: `seconds of ${RATE} events, one at a time` },
    rounds: { type: 'string', default: '3', help: 'how often costs are measured' },
    out: { type: 'string', help: 'file for the figures as JSON' },
  },
  prepare({ values, commandLine }) {
    const drivers = values.drivers.split(',').map(driverCase);
    const events = wholeNumber('events', values.events, 1, MOST_EVENTS);
    const seconds = wholeNumber('seconds', values.seconds, 1, MOST_SECONDS);
    const rounds = wholeNumber('rounds', values.rounds, 1, MOST_ROUNDS);
    return async () => {
      const brokers = given('KAFKA_BROKERS');
      const signal = interruption();
      const tables = [
        await costsTable({ drivers, brokers, events, seconds, rounds, signal }),
        await stallTable(drivers, brokers, signal),
      ];
      for (const { title, ...table } of tables) console.log(`${title}\n${tableText(table)}\n`);
      if (values.out === undefined) return;
      await saveResults(values.out, { kind: 'drivers', ...(await origin(commandLine)), tables });
    };
  },
});

function driverCase(name: string): DriverCase {
  const found = DRIVER_CASES.find((driver) => driver.name === name);
  if (found !== undefined) return found;
  throw new UsageError(`--drivers: expected some of ${NAMES.join(', ')}, got ${name || 'nothing'}`);
}

interface CostsOptions {
  readonly drivers: readonly DriverCase[];
  readonly brokers: string;
  readonly events: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly signal: AbortSignal;
}

/** The clients take turns, so that the other load of the machine affects all of them. */
async function costsTable(options: CostsOptions): Promise<TextTable> {
  const { drivers, brokers, events, seconds, rounds, signal } = options;
  const measured = drivers.map((driver) => ({ driver, figures: COSTS.map((): number[] => []) }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const { driver, figures } of measured) {
      signal.throwIfAborted();
      const common = { driver, brokers, signal };
      const flood = await costsInFlood({ ...common, events });
      const singles = await costsOfSingles({ ...common, events: RATE * seconds }, RATE);
      figures[0]?.push((flood.cpuSeconds * 1e6) / events);
      figures[1]?.push(flood.residentBytes / 1e6);
      figures[2]?.push((singles.cpuSeconds * 1e3) / (RATE * seconds));
      figures[3]?.push(singles.residentBytes / 1e6);
      console.error(`costs by ${driver.name}, round ${round}: measured`);
    }
  }
  return {
    title: `${events} events in a flood, and ${RATE} a second for ${seconds} s: least–most of ${rounds} rounds`,
    columns: ['', ...COSTS.map(({ name }) => name)],
    rows: measured.map(({ driver, figures }) => [
      driver.name,
      ...COSTS.map(({ digits }, index) => spread(figures[index] ?? [], digits)),
    ]),
  };
}

function spread(values: readonly number[], digits: number): string {
  const [least, most] = [Math.min(...values).toFixed(digits), Math.max(...values).toFixed(digits)];
  return least === most ? least : `${least}–${most}`;
}

async function stallTable(
  drivers: readonly DriverCase[],
  brokers: string,
  signal: AbortSignal,
): Promise<TextTable> {
  const cases = drivers.flatMap((driver): StallCase[] =>
    (driver.hasNames ? [false, true] : [false]).flatMap((isNamed) =>
      (['stopped', 'killed'] as const).map((fault) => ({ driver, isNamed, fault })),
    ),
  );
  const rows: string[][] = [];
  for (const one of cases) {
    const { ownMs, otherMs, doubled } = await measureStall(one, brokers, signal);
    const name = `${one.driver.name}${one.isNamed ? ' with a name' : ''}, ${one.fault}`;
    rows.push([name, ownMs.toFixed(0), otherMs.toFixed(0), String(doubled)]);
    console.error(`${name}: measured`);
  }
  return {
    title: 'One of two members is started anew: the longest that a partition stood still',
    columns: ['', 'its own, ms', "the other one's, ms", 'events consumed twice'],
    rows,
  };
}
