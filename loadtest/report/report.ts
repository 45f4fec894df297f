/** The content of `report.json`: all that a load test has measured, and nothing that is computed for display. */
export interface Report {
  readonly version: 1;
  /** ISO 8601, UTC. */
  readonly created: string;
  readonly commandLine: string;
  readonly commit: string;
  readonly machine: Machine;
  /** The versions of Node.js, the brokers and the packages in use. */
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

/** The protocol of a subscription. */
export type Transport =
  | 'graphql-transport-ws'
  | 'graphql-transport-ws, compressed'
  | 'graphql-ws'
  | 'server-sent events'
  | 'server-sent events, compressed'
  | 'multipart'
  | 'centrifugo';

/** The load on each server of a report. */
export interface Load {
  readonly sockets: number;
  /** The number of keys that sockets and events are dealt out to; 0: every socket watches the whole topic. */
  readonly channels: number;
  readonly ids: 'same' | 'unique';
  /** Whether clients resume, so that their results carry cursors. */
  readonly resumes?: boolean;
  /** The protocol of the clients; absent: graphql-transport-ws. */
  readonly transport?: Transport;
  /** Whether all sockets pass the same variables, or each socket its own. */
  readonly variables: 'same' | 'unique';
  /** The size of one result as JSON. */
  readonly payloadBytes: number;
  /** The number of events that are sent one at a time, each when the one before has reached every socket. */
  readonly singles: number;
  readonly floodSeconds: number;
  /** The most events under way in the flood; further events are sent when some have reached every socket. */
  readonly window: number;
  /** Events a second in the flood; 0: only the window limits them. */
  readonly rate: number;
  /** The share of the sockets that stop reading in the flood. */
  readonly stalled: number;
  /** The most bytes that the server lets wait for one socket; absent: it has no bound. */
  readonly socketBufferBytes?: number;
  readonly pods: number;
  /** Processes of one pod that share its port; only Sluice can have more than one. */
  readonly workers?: number;
  /** The folder of the graph, as given; or `flat` or `company`, graphs of the load test itself. */
  readonly graph: string;
}

export type PhaseName = 'nothing' | 'idle' | 'single' | 'flood';

export interface Phase {
  readonly name: PhaseName;
  /** ms since the run began */
  readonly from: number;
  readonly to: number;
}

/** The state at one moment of a run, over all processes of the server. */
export interface Sample {
  /** ms since the run began */
  readonly at: number;
  readonly residentBytes: number;
  /** In use on the JavaScript heap, with garbage. */
  readonly heapBytes: number;
  /** Memory of buffers and other external objects. */
  readonly externalBytes: number;
  /** User and system time since the run began. */
  readonly cpuSeconds: number;
  /** The share of the time since the last sample in which the busiest process's event loop worked, 0 to 1. */
  readonly loopUtilisation: number;
  /** The 99th percentile since the last sample, in the slowest process. */
  readonly loopDelayMs: number;
  readonly sockets: number;
  /** Events since the run began. */
  readonly eventsSent: number;
  /** Frames with a result that clients have received since the run began. */
  readonly deliveries: number;
}

/** Percentiles of `count` observations, in ms. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** The results of sending events. */
export interface TrafficFigures {
  readonly events: number;
  readonly deliveries: number;
  /** Bytes that clients have read, with what the transport has around results. */
  readonly bytes: number;
  /** From sending the first event until all clients have received the last one. */
  readonly seconds: number;
  /** User and system time of the server in these seconds. */
  readonly cpuSeconds: number;
  /** The most resident memory of any sample. */
  readonly residentBytes: number;
  /** From writing an event to Kafka to a client's reading its frame, over the sampled sockets. */
  readonly delay: Percentiles;
}

/** The endings of sockets that stopped reading. */
export interface Stalled {
  readonly sockets: number;
  /** Sockets by close code; `terminated`: without a close frame; `open`: still connected. */
  readonly endings: Readonly<Record<string, number>>;
}

export interface Run {
  /** `sluice`, `stock`, or a step of the ladder. */
  readonly target: string;
  readonly phases: readonly Phase[];
  readonly samples: readonly Sample[];
  /** Memory after a collection of garbage, before any client has connected. */
  readonly nothing: Memory;
  /** Memory after a collection of garbage, when all clients have subscribed. */
  readonly idle: Memory;
  readonly single: TrafficFigures;
  readonly flood: TrafficFigures;
  /** Promises that the server made for each delivery, over some single events that no other figure counts. */
  readonly promisesPerDelivery: number;
  /** GraphQL executions for each event; null: the server does not count them. */
  readonly executionsPerEvent: number | null;
  /** From TCP connect to `connection_ack`, for sockets that connect in the middle of the flood. */
  readonly handshake: Percentiles;
  readonly stalled: Stalled;
  /** Faults in count, order or content of the deliveries, in words; empty: there are none. */
  readonly faults: readonly string[];
}

export interface Memory {
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly sockets: number;
}
