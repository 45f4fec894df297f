import type { Transport } from '../clients/transports.ts';

/** What `report.json` holds: all that a load test has measured, and nothing that is computed for show. */
export interface Report {
  readonly version: 1;
  /** ISO 8601, UTC. */
  readonly created: string;
  readonly commandLine: string;
  readonly commit: string;
  readonly machine: Machine;
  /** The versions of Node.js, the brokers and the packages that take part. */
  readonly versions: Readonly<Record<string, string>>;
  readonly load: Load;
  /** One for each server under test, in the order in which they ran. */
  readonly runs: readonly Run[];
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
}

/** What every server of a report has to bear. */
export interface Load {
  readonly sockets: number;
  /** 0: every socket watches the whole topic; else sockets and events are dealt out to so many keys. */
  readonly channels: number;
  readonly ids: 'same' | 'unique';
  /** Clients resume: their results carry cursors. */
  readonly resumes?: boolean;
  /** What clients connect by; absent: graphql-transport-ws. */
  readonly transport?: Transport;
  /** Whether all sockets pass the same variables, or each its own. */
  readonly variables: 'same' | 'unique';
  /** The bytes of one result as JSON. */
  readonly payloadBytes: number;
  /** Events that are sent one at a time, each when the one before has reached every socket. */
  readonly singles: number;
  readonly floodSeconds: number;
  /** Events under way in the flood; more are sent when some have reached every socket. */
  readonly window: number;
  /** Events a second in the flood; 0: as many as the window lets through. */
  readonly rate: number;
  /** Share of the sockets that stop reading in the flood. */
  readonly stalled: number;
  /** What the server lets wait for one socket; absent: it has no such bound. */
  readonly socketBufferBytes?: number;
  readonly pods: number;
  /** Processes of one pod that share its port; more than one is for Sluice alone. */
  readonly workers?: number;
  /** Folder of the graph, as it was given; or `flat` or `company`, the load test's own. */
  readonly graph: string;
}

export type PhaseName = 'nothing' | 'idle' | 'single' | 'flood';

export interface Phase {
  readonly name: PhaseName;
  /** ms since the run began */
  readonly from: number;
  readonly to: number;
}

/** One moment of a run, over all processes of the server. */
export interface Sample {
  /** ms since the run began */
  readonly at: number;
  readonly residentBytes: number;
  /** Used on the JavaScript heap, garbage included. */
  readonly heapBytes: number;
  /** Buffers and the like. */
  readonly externalBytes: number;
  /** User and system time since the run began. */
  readonly cpuSeconds: number;
  /** Share of the time since the last sample that the busiest process's event loop worked, 0 to 1. */
  readonly loopUtilisation: number;
  /** 99th percentile since the last sample, of the slowest process. */
  readonly loopDelayMs: number;
  readonly sockets: number;
  /** Since the run began. */
  readonly eventsSent: number;
  /** Frames with a result that clients have received since the run began. */
  readonly deliveries: number;
}

/** Percentiles of so many observations, in ms. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** What sending events came to. */
export interface TrafficFigures {
  readonly events: number;
  readonly deliveries: number;
  /** From the first event sent to the last one received by all clients. */
  readonly seconds: number;
  /** User and system time of the server meanwhile. */
  readonly cpuSeconds: number;
  /** The most that was resident at a sample. */
  readonly residentBytes: number;
  /** Event written by the client of Kafka → frame read by a client of the server, over the sampled sockets. */
  readonly delay: Percentiles;
}

/** How sockets that stopped reading have ended. */
export interface Stalled {
  readonly sockets: number;
  /** By close code; `terminated`: without a close frame; `open`: not at all. */
  readonly endings: Readonly<Record<string, number>>;
}

export interface Run {
  /** `sluice`, `stock`, or a step of the ladder. */
  readonly target: string;
  readonly phases: readonly Phase[];
  readonly samples: readonly Sample[];
  /** After a collection of garbage, before any client has connected. */
  readonly nothing: Memory;
  /** After a collection of garbage, when all have subscribed. */
  readonly idle: Memory;
  readonly single: TrafficFigures;
  readonly flood: TrafficFigures;
  /** Promises that the server made for each delivery, over some single events that count for nothing else. */
  readonly promisesPerDelivery: number;
  /** GraphQL executions for each event, where the server counts them. */
  readonly executionsPerEvent: number | null;
  /** TCP connect to `connection_ack` of sockets that come in the middle of the flood. */
  readonly handshake: Percentiles;
  readonly stalled: Stalled;
  /** What was wrong with what arrived: count, order or content. Empty: nothing was. */
  readonly faults: readonly string[];
}

export interface Memory {
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly sockets: number;
}
