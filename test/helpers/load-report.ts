import type { Load, Phase, PhaseName, Report, Run, Sample } from '../../loadtest/report/report.ts';

const MB = 1_000_000;

/** A second between two samples. */
const SAMPLES = 60;

const PHASES: readonly Phase[] = (
  [
    ['nothing', 0, 5],
    ['idle', 5, 20],
    ['single', 20, 32],
    ['flood', 32, 60],
  ] as const
).map(([name, from, to]) => ({ name, from: from * 1_000, to: to * 1_000 }));

/** The figures of a server, from which all others follow. */
const SLUICE = {
  target: 'sluice',
  heapPerSocket: 5_000,
  residentPerSocket: 11_000,
  microsSingle: 8,
  microsFlood: 2,
  /** Deliveries a second in the flood. */
  throughput: 320_000,
  promises: 0.002,
  executions: 1 as number | null,
  /** Growth of resident memory in the flood. */
  growth: 30 * MB,
  delay: 12,
};

type Server = Readonly<typeof SLUICE>;

const STOCK: Server = {
  target: 'stock',
  heapPerSocket: 17_000,
  residentPerSocket: 32_000,
  microsSingle: 72,
  microsFlood: 61,
  throughput: 18_000,
  promises: 9.5,
  executions: null,
  growth: 180 * MB,
  delay: 240,
};

const LOAD: Load = {
  sockets: 4_000,
  channels: 0,
  ids: 'unique',
  variables: 'same',
  payloadBytes: 200,
  singles: 40,
  floodSeconds: 28,
  window: 256,
  rate: 0,
  stalled: 0,
  socketBufferBytes: 1_000_000,
  pods: 1,
  graph: 'flat',
};

/** A report like those of `yarn loadtest run --against stock`, always the same for a load, with wavering samples. */
export function loadReport(load: Partial<Load> = {}): Report {
  const whole = { ...LOAD, ...load };
  return {
    version: 1,
    created: '2026-11-21T09:30:00.000Z',
    commandLine: 'yarn loadtest run --against stock',
    commit: '3f2fbef',
    machine: {
      processor: 'Example CPU @ 2.80GHz',
      cores: 2,
      memoryBytes: 8_000 * MB,
      system: 'Linux 6.1.0 x64',
    },
    versions: { node: '20.20.2', kafka: '4.3.1', redis: '7.0.15', ws: '8.23.0' },
    load: whole,
    runs: [runOf(SLUICE, whole), runOf(STOCK, whole)],
  };
}

function runOf(server: Server, load: Load): Run {
  const perEvent = load.channels === 0 ? load.sockets : load.sockets / load.channels;
  const floodDeliveries = server.throughput * load.floodSeconds;
  const residentWhenIdle = 90 * MB + load.sockets * server.residentPerSocket;
  return {
    target: server.target,
    phases: PHASES,
    samples: samplesOf(server, load, perEvent),
    nothing: { heapBytes: 20 * MB, residentBytes: 90 * MB, sockets: 0 },
    idle: {
      heapBytes: 20 * MB + load.sockets * server.heapPerSocket,
      residentBytes: residentWhenIdle,
      sockets: load.sockets,
    },
    single: {
      events: load.singles,
      deliveries: load.singles * perEvent,
      bytes: load.singles * perEvent * load.payloadBytes,
      seconds: 12,
      cpuSeconds: (load.singles * perEvent * server.microsSingle) / 1e6,
      residentBytes: residentWhenIdle + 5 * MB,
      delay: quantiles(server, 400, [0.5, 0.8, 1, 2]),
    },
    flood: {
      events: floodDeliveries / perEvent,
      deliveries: floodDeliveries,
      bytes: floodDeliveries * load.payloadBytes,
      seconds: load.floodSeconds,
      cpuSeconds: (floodDeliveries * server.microsFlood) / 1e6,
      residentBytes: residentWhenIdle + server.growth,
      delay: quantiles(server, 4_000, [5, 8, 10, 15]),
    },
    promisesPerDelivery: server.promises,
    executionsPerEvent: server.executions,
    handshake: quantiles(server, 120, [1, 2, 3, 4]),
    stalled: { sockets: Math.round(load.sockets * load.stalled), endings: {} },
    faults: [],
  };
}

/** @param times multiples of the server's delay: p50, p90, p99 and the maximum */
function quantiles({ delay }: Server, count: number, times: readonly [number, number, number, number]) {
  const [p50, p90, p99, max] = times;
  return { count, p50: p50 * delay, p90: p90 * delay, p99: p99 * delay, max: max * delay };
}

function samplesOf(server: Server, load: Load, perEvent: number): readonly Sample[] {
  const waver = wavering(7);
  let cpuSeconds = 0;
  let deliveries = 0;
  return Array.from({ length: SAMPLES }, (_, second) => {
    const phase = phaseAt(second * 1_000);
    const connected = Math.round(load.sockets * Math.min(1, Math.max(0, (second - 5) / 8)));
    const perSecond =
      phase === 'flood' ? server.throughput : phase === 'single' ? (load.singles * perEvent) / 12 : 0;
    const micros = phase === 'flood' ? server.microsFlood : server.microsSingle;
    const growth = phase === 'flood' ? server.growth * Math.min(1, (second - 31) / 10) : 0;
    const delivered = Math.round(perSecond * waver(0.9, 1));
    cpuSeconds += (delivered * micros) / 1e6 + (phase === 'idle' && connected < load.sockets ? 0.4 : 0.01);
    deliveries += delivered;
    return {
      at: second * 1_000,
      residentBytes: Math.round(90 * MB + connected * server.residentPerSocket + growth * waver(0.85, 1)),
      heapBytes: Math.round((20 * MB + connected * server.heapPerSocket + growth / 2) * waver(1, 1.25)),
      externalBytes: Math.round(4 * MB + (growth / 5) * waver(0.5, 1)),
      cpuSeconds,
      loopUtilisation: phase === 'flood' ? waver(0.9, 1) : waver(0.01, 0.2),
      loopDelayMs: phase === 'flood' ? server.delay * waver(0.6, 1.2) : waver(1, 3),
      sockets: connected,
      eventsSent: Math.round(deliveries / perEvent),
      deliveries,
    };
  });
}

function phaseAt(at: number): PhaseName {
  return PHASES.find(({ from, to }) => at >= from && at < to)?.name ?? 'flood';
}

/** Numbers between two bounds that look random, always the same ones for a seed (linear congruential generator). */
function wavering(seed: number): (least: number, most: number) => number {
  let state = seed;
  return (least, most) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return least + ((most - least) * state) / 2_147_483_648;
  };
}
