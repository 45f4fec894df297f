import type { Endpoint } from './returning-client.ts';

/** What the process of returning clients is to do, as its only argument. */
export interface StormAssignment {
  readonly endpoint: Endpoint;
  readonly sockets: number;
  readonly variables: Readonly<Record<string, string>>;
}

/** From the load test: connect some at a time; break all connections; connect all in the same turn. */
export type StormCommand = 'open' | 'leave' | 'return';

/** To the load test, when all are subscribed. */
export interface AllSubscribed {
  /** From the command on. */
  readonly ms: number;
  readonly refusals: number;
}
