import type { Endpoint } from './returning-client.ts';

/** The work of the process of returning clients; it is the only argument of the process. */
export interface StormAssignment {
  readonly endpoint: Endpoint;
  readonly sockets: number;
  readonly variables: Readonly<Record<string, string>>;
}

/** `open`: connect some at a time; `leave`: break all connections; `return`: all connect at once. */
export type StormCommand = 'open' | 'leave' | 'return';

/** To the load test, when all clients are subscribed. */
export interface AllSubscribed {
  /** The time since the command. */
  readonly ms: number;
  readonly refusals: number;
}
