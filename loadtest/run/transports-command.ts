import { defineCommand, wholeNumber } from '../command.ts';
import { FIGURES } from '../report/figures.ts';
import type { Load, Run } from '../report/report.ts';
import { tableText } from '../report/text-table.ts';
import { TRANSPORTS } from '../targets/transports.ts';
import { readPayload, readSockets, socketsOption, STANDARD_LOAD } from './load-options.ts';
import { interruption, measureEach } from './measure.ts';

const SHORT: Load = { ...STANDARD_LOAD, singles: 40, floodSeconds: 5 };

/** Events under way where each reaches few sockets. */
const MANY_UNDER_WAY = 4_000;

const SHOWN = [
  FIGURES.cpuPerDeliverySingle,
  FIGURES.cpuPerDeliveryFlood,
  FIGURES.bytesPerDelivery,
  FIGURES.heapPerSocket,
  FIGURES.residentPerSocket,
];

const cell = (run: Run, { of }: (typeof SHOWN)[number]): string => of(run)?.toPrecision(3) ?? '–';

export const command = defineCommand({
  summary: 'what a delivery and a connection cost over each transport, of Sluice and of what else serves it',
  needsServices: true,
  options: {
    sockets: socketsOption('1000'),
    channels: {
      type: 'string',
      default: '0',
      help: 'keys that sockets and events are dealt out to; 0: all sockets get all events',
    },
    payload: { type: 'string', default: String(SHORT.payloadBytes), help: 'bytes of a result as JSON' },
  },
  prepare({ values: { sockets, channels, payload } }) {
    const count = readSockets(sockets);
    const keys = wholeNumber('channels', channels, 0, count);
    const load: Load = {
      ...SHORT,
      sockets: count,
      channels: keys,
      window: keys === 0 ? SHORT.window : MANY_UNDER_WAY,
      payloadBytes: readPayload(payload),
    };
    return async () => {
      const signal = interruption();
      const rows: string[][] = [];
      for (const { transport, targets } of TRANSPORTS) {
        for (const run of await measureEach(targets, load, signal)) {
          rows.push([
            transport,
            run.target,
            ...SHOWN.map((figure) => cell(run, figure)),
            `${run.faults.length}`,
          ]);
          for (const fault of run.faults) console.error(`✗ ${transport}, ${run.target}: ${fault}`);
          if (run.faults.length > 0) process.exitCode = 1;
        }
      }
      const columns = ['transport', 'server', ...SHOWN.map(({ name, unit }) => `${name}, ${unit}`), 'faults'];
      console.log(tableText({ columns, rows }));
    };
  },
});
