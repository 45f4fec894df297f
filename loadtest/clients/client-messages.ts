import type { Load } from '../report/report.ts';

/** The work of a client process; it is the only argument of the process. */
export interface Assignment {
  /** WebSocket endpoints of the pods; sockets are dealt out to them in turn. */
  readonly endpoints: readonly { readonly host: string; readonly port: number }[];
  readonly load: Pick<Load, 'channels' | 'ids' | 'resumes' | 'transport' | 'variables' | 'payloadBytes'>;
  /** The process opens sockets with indexes from `first` on; indexes count over all client processes. */
  readonly first: number;
  readonly sockets: number;
  /** The number of sockets, the last of this process, that stop reading when told to. */
  readonly stalled: number;
  /** One socket of this many parses and compares all its events. */
  readonly sampleEvery: number;
  /** Sockets that the process connects in a second, at most; absent: as fast as the server takes them. */
  readonly perSecond?: number | undefined;
}

/** From the load test to a client process. */
export type ClientCommand =
  | { readonly type: 'open' }
  /** Answer `reached` when every socket has got the event of this number. */
  | { readonly type: 'await'; readonly seq: number }
  | { readonly type: 'stall' }
  | { readonly type: 'release' }
  /** Open one more socket every `everyMs` ms, note the time until it is acknowledged, and close it. */
  | { readonly type: 'visit'; readonly everyMs: number }
  | { readonly type: 'stop-visiting' }
  | { readonly type: 'report' };

/** Sent after a count has changed, at most every 5 ms. */
export interface Progress {
  readonly type: 'progress';
  readonly open: number;
  readonly deliveries: number;
  /** Bytes that the sockets have read. */
  readonly bytes: number;
  /** The number of sockets that were closed though they read all the time. */
  readonly closed: number;
}

/** The answer to `await`. */
interface Reached {
  readonly type: 'reached';
  readonly seq: number;
}

/** The answer to `report`, which resets all counts but that of deliveries. */
export interface ClientReport {
  readonly type: 'report';
  /** Delays of the sockets that parse, from writing the event to reading its frame, in ms. */
  readonly delays: readonly number[];
  readonly handshakes: readonly number[];
  readonly faults: readonly string[];
  readonly endings: Readonly<Record<string, number>>;
}

/** From a client process to the load test. */
export type ClientMessage = Progress | Reached | ClientReport;

/** The fault if a server is too busy to acknowledge a client that connects during the flood. */
export const REFUSED = 'a socket that came in the flood was refused';
