/** `yarn fuzz --seed 1 --seconds 600 --clients 20`: runs hostile clients, and checks an honest one beside them. */
import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';

/** The limit of the 99th percentile of the honest client's delays, in ms. */
const P99_MS = 250;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    clients: { type: 'string', default: '20' },
  },
});
const options = {
  seed: wholeNumber('seed'),
  seconds: wholeNumber('seconds'),
  clients: wholeNumber('clients'),
};

const cleanups: (() => unknown)[] = [];
const report = await fuzz({ after: (cleanup) => void cleanups.push(cleanup) }, options);
for (const cleanup of cleanups) await cleanup();
console.log(JSON.stringify(report, null, 2));
if (report.delays.p99 > P99_MS) console.log(`expected a p99 of at most ${P99_MS} ms`);
if (report.violations.length > 0 || report.delays.p99 > P99_MS) process.exitCode = 1;

function wholeNumber(name: 'seed' | 'seconds' | 'clients'): number {
  if (!/^\d+$/.test(values[name])) throw new Error(`--${name}: expected a whole number, got ${values[name]}`);
  return Number(values[name]);
}
