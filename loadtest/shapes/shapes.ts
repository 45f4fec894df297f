import type { Load } from '../report/report.ts';
import { STANDARD_LOAD } from '../run/load-options.ts';
import type { Target } from '../targets/target.ts';
import { compressing } from '../targets/transports.ts';
import type { ShapeRun } from './shape-run.ts';

/** One way in which events come to clients, and one figure of what it costs the server: what stands in the table of budgets. */
interface Shape {
  /** The figure, with its unit. */
  readonly figure: string;
  readonly load: Load;
  /** What is different about the servers. */
  readonly adapt?: (target: Target) => Target;
  /** Warms the server up, and measures. */
  measure(run: ShapeRun): Promise<number>;
}

/** Shorter floods measure compilers: V8 compiles what a pod does for each event in the first ten thousand of them. */
const WARM_SECONDS = 8;
const SECONDS = 10;

/** V8's compilers are at work for the first 1,500 events, at any rate. */
const LOW_RATE = 50;
const WARM_SECONDS_LOW = 48;
const SECONDS_LOW = 48;

/** Whole intervals between pings of all servers: Sluice has 25 s, and spreads them; others have 12, and may not. */
const REST_SECONDS = 48;

/** After clients have come, or left. */
const SETTLE_SECONDS = 5;

const UNWANTED_EVENTS = 200_000;

const MANY_UNDER_WAY = 20_000;

/** Connected, and left again, before what is measured. */
const WARM_SOCKETS = 1_000;

const SOCKETS = STANDARD_LOAD.sockets;

const toAll: Load = STANDARD_LOAD;
const ofItsOwn: Load = { ...STANDARD_LOAD, channels: SOCKETS, window: MANY_UNDER_WAY };

export const SHAPES: Readonly<Record<string, Shape>> = {
  all: { figure: 'flood, all get all: CPU a delivery, µs', load: toAll, measure: perDelivery },
  '8kb': {
    figure: 'flood of 8 KB, all get all: CPU a delivery, µs',
    load: { ...toAll, payloadBytes: 8_192, window: 64 },
    measure: perDelivery,
  },
  compressed: {
    figure: 'flood of 2 KB, all get all, offering compression: CPU a delivery, µs',
    load: { ...toAll, payloadBytes: 2_048, window: 64, transport: 'graphql-transport-ws, compressed' },
    adapt: compressing,
    measure: perDelivery,
  },
  joined: {
    figure: 'flood, all get all, a field from a subgraph: CPU a delivery, µs',
    load: { ...toAll, graph: 'joined', window: 64 },
    measure: perDelivery,
  },
  own: { figure: 'flood, a channel each: CPU an event, µs', load: ofItsOwn, measure: perEvent },
  one: {
    figure: 'flood, one socket gets all: CPU an event, µs',
    load: { ...toAll, sockets: 1, window: MANY_UNDER_WAY },
    measure: perEvent,
  },
  nobody: {
    figure: 'flood without subscribers: CPU an event, µs',
    load: { ...ofItsOwn, sockets: 1, channels: 1 },
    measure: async (run) => {
      await run.connect();
      await run.sendUnwanted(UNWANTED_EVENTS);
      const before = run.cpuSeconds;
      await run.sendUnwanted(UNWANTED_EVENTS);
      return ((run.cpuSeconds - before) * 1e6) / UNWANTED_EVENTS;
    },
  },
  'low-rate': {
    figure: `${LOW_RATE} events a second, a channel each: CPU an event above idle, ms`,
    load: { ...ofItsOwn, rate: LOW_RATE },
    measure: async (run) => {
      await run.connect();
      await run.flood(WARM_SECONDS_LOW);
      const idle = await run.cpuOfRest(REST_SECONDS);
      const { cpuSeconds, seconds, events } = await run.flood(SECONDS_LOW);
      return ((cpuSeconds - idle * seconds) * 1e3) / events;
    },
  },
  idle: {
    figure: 'no events: CPU a socket and second, µs',
    load: toAll,
    measure: async (run) => {
      await run.connect();
      await run.cpuOfRest(SETTLE_SECONDS);
      return ((await run.cpuOfRest(REST_SECONDS)) * 1e6) / run.load.sockets;
    },
  },
  connect: {
    figure: 'from TCP connect to the first event: CPU a socket, µs',
    load: toAll,
    measure: async (run) => {
      await run.connect({ ...run.load, sockets: WARM_SOCKETS });
      await run.disconnect();
      await run.cpuOfRest(SETTLE_SECONDS);
      const before = run.cpuSeconds;
      await run.connect();
      return ((run.cpuSeconds - before) * 1e6) / run.load.sockets;
    },
  },
};

async function perDelivery(run: ShapeRun): Promise<number> {
  const { cpuSeconds, deliveries } = await warmFlood(run);
  return (cpuSeconds * 1e6) / deliveries;
}

async function perEvent(run: ShapeRun): Promise<number> {
  const { cpuSeconds, events } = await warmFlood(run);
  return (cpuSeconds * 1e6) / events;
}

async function warmFlood(run: ShapeRun) {
  await run.connect();
  await run.flood(WARM_SECONDS);
  return run.flood(SECONDS);
}
