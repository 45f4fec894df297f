import type { ClientReport } from './client-account.ts';
import type { Endpoint } from './resuming-client.ts';

/** The work of a process of clients; it is the only argument of the process. */
export interface ChaosAssignment {
  readonly endpoint: Endpoint;
  /** The process runs the clients numbered from `first` on; numbers count over all processes. */
  readonly first: number;
  readonly clients: number;
  /** The number of channels that subscriptions are dealt out over. */
  readonly channels: number;
  /** The clients subscribe to a channel of their own, and note the delays of its events. */
  readonly times: boolean;
  /** The clients know nothing of cursors and gaps, like stock clients. */
  readonly stock: boolean;
}

/** The last number by channel. */
export type Numbers = Readonly<Record<string, number>>;

/** From the chaos run to a process of clients, which answers each command. */
export type ChaosCommand =
  /** Connect all, some at a time. */
  | { readonly type: 'open' }
  /** Break the connections of this share of the clients, which connect again soon. */
  | { readonly type: 'cut'; readonly share: number }
  /** Break all connections, and stay away. */
  | { readonly type: 'leave' }
  /** Connect all in one turn. */
  | { readonly type: 'return' }
  /** Tell how many clients are greeted, and how many of these have all events up to the given numbers. */
  | { readonly type: 'count'; readonly sent: Numbers }
  /** Tell the last numbers of each group of clients. */
  | { readonly type: 'places' }
  /** Tell the delays of the events since the last time that this was asked. */
  | { readonly type: 'delays' }
  /** Make the accounts: no event comes any more. */
  | { readonly type: 'close'; readonly sent: Numbers };

export interface ChaosAnswers {
  readonly open: true;
  readonly cut: true;
  readonly leave: true;
  readonly return: true;
  readonly count: { readonly greeted: number; readonly complete: number };
  /** By group: for each channel, the last number of the client that is furthest behind. */
  readonly places: Readonly<Record<string, Numbers>>;
  /** From sending an event to receiving it, in ms. */
  readonly delays: readonly number[];
  readonly close: readonly ClientReport[];
}

/** The answer to the request of the same number. */
export interface ChaosAnswer {
  readonly number: number;
  readonly answer: ChaosAnswers[keyof ChaosAnswers];
}
