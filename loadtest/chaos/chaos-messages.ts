import type { ClientReport } from './client-account.ts';
import type { Endpoint } from './resuming-client.ts';

/** What a process of clients is to do, as its only argument. */
export interface ChaosAssignment {
  readonly endpoint: Endpoint;
  /** Its clients: numbers from `first` on, over all processes. */
  readonly first: number;
  readonly clients: number;
  /** What they subscribe to is dealt out over so many. */
  readonly channels: number;
  /** They subscribe to a channel of their own, and note the delays of what comes. */
  readonly times: boolean;
  /** They are as stock ones are. */
  readonly stock: boolean;
}

/** The last number by channel. */
export type Numbers = Readonly<Record<string, number>>;

/** From the chaos run to a process of clients, which answers each. */
export type ChaosCommand =
  /** Connect all, some at a time. */
  | { readonly type: 'open' }
  /** Break the connections of this share of clients, who come back soon. */
  | { readonly type: 'cut'; readonly share: number }
  /** Break all connections, and stay away. */
  | { readonly type: 'leave' }
  /** Connect all in one turn. */
  | { readonly type: 'return' }
  /** How many are greeted, and how many of them have all events up to these numbers. */
  | { readonly type: 'count'; readonly sent: Numbers }
  /** What each group of clients has got by now. */
  | { readonly type: 'places' }
  /** What has come late since the last time this was asked. */
  | { readonly type: 'delays' }
  /** Nothing comes any more. */
  | { readonly type: 'close'; readonly sent: Numbers };

export interface ChaosAnswers {
  readonly open: true;
  readonly cut: true;
  readonly leave: true;
  readonly return: true;
  readonly count: { readonly greeted: number; readonly complete: number };
  /** By group: for each channel the lowest number that is the last one of some client. */
  readonly places: Readonly<Record<string, Numbers>>;
  /** ms from being sent. */
  readonly delays: readonly number[];
  readonly close: readonly ClientReport[];
}

/** The answer to the request of the same number. */
export interface ChaosAnswer {
  readonly number: number;
  readonly answer: ChaosAnswers[keyof ChaosAnswers];
}
