import type { Load } from '../report/report.ts';

/** What a client process is to do, as its only argument. */
export interface Assignment {
  /** WebSocket endpoints of the pods; sockets are dealt out to them in turn. */
  readonly endpoints: readonly { readonly host: string; readonly port: number }[];
  readonly load: Pick<Load, 'channels' | 'ids' | 'resumes' | 'transport' | 'variables' | 'payloadBytes'>;
  /** Its sockets: indexes from `first` on, over all client processes. */
  readonly first: number;
  readonly sockets: number;
  /** The last so many of its sockets stop reading when told to. */
  readonly stalled: number;
  /** Every so-many-th socket parses and compares all that it gets. */
  readonly sampleEvery: number;
  /** It connects no more than so many of them in a second; absent: as fast as the server takes them. */
  readonly perSecond?: number | undefined;
}

/** From the load test to a client process. */
export type ClientCommand =
  | { readonly type: 'open' }
  /** Answer `reached` when every socket has got the event of this number. */
  | { readonly type: 'await'; readonly seq: number }
  | { readonly type: 'stall' }
  | { readonly type: 'release' }
  /** Open one more socket every so many ms, note how long it takes until it is acknowledged, and close it. */
  | { readonly type: 'visit'; readonly everyMs: number }
  | { readonly type: 'stop-visiting' }
  | { readonly type: 'report' };

/** Sent when something has changed, some times a second. */
export interface Progress {
  readonly type: 'progress';
  readonly open: number;
  readonly deliveries: number;
  /** The number of sockets, of those that read all the time, that were closed. */
  readonly closed: number;
}

/** The answer to `await`. */
interface Reached {
  readonly type: 'reached';
  readonly seq: number;
}

/** The answer to `report`; begins all counts but that of deliveries anew. */
export interface ClientReport {
  readonly type: 'report';
  /** Event written → frame read, ms, of the sockets that parse. */
  readonly delays: readonly number[];
  readonly handshakes: readonly number[];
  readonly faults: readonly string[];
  readonly endings: Readonly<Record<string, number>>;
}

/** From a client process to the load test. */
export type ClientMessage = Progress | Reached | ClientReport;

/** The fault of a server that is too busy to acknowledge a client that comes in the flood. */
export const REFUSED = 'a socket that came in the flood was refused';
