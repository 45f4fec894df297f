import { ChannelAccount, type Hole, type Knowledge } from './channel-account.ts';
import type { Field, Subscription } from './subscriptions.ts';

/** The result of a run for one client. */
export interface ClientReport {
  readonly client: number;
  readonly field: Field;
  readonly received: number;
  /** Events that have not come, by the client's knowledge of them. */
  readonly lost: Readonly<Record<Knowledge, number>>;
  readonly doubled: number;
  readonly reordered: number;
  /** How often the client has subscribed again, and been greeted. */
  readonly returns: number;
  /** Greetings after the first one that said `recovered: false`. */
  readonly unrecovered: number;
  readonly gaps: number;
  /** Violations of the protocol, in words. */
  readonly faults: readonly string[];
  readonly holes: readonly Hole[];
}

const MOST_FAULTS = 2;

/** The events that one client has got, and what it knows of the missing ones. */
export class ClientAccount {
  readonly #client: number;
  readonly #field: Field;
  readonly #channels: ReadonlyMap<string, ChannelAccount>;
  readonly #faults: string[] = [];
  #returns = 0;
  #unrecovered = 0;
  #gaps = 0;

  constructor(client: number, { field, channels }: Subscription) {
    this.#client = client;
    this.#field = field;
    this.#channels = new Map(channels.map((channel) => [channel, new ChannelAccount(channel)]));
  }

  /** The highest number that has come, for each of the client's channels. */
  get last(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#channels].map(([channel, account]) => [channel, account.last]));
  }

  event(channel: string, n: number): void {
    const account = this.#channels.get(channel);
    if (account === undefined || !Number.isInteger(n) || n < 1) {
      this.fault(`expected an event of ${[...this.#channels.keys()].join(' or ')}, got ${channel} ${n}`);
    } else {
      account.event(n);
    }
  }

  /** Notes that the client has subscribed again. @param recovered the server's answer */
  returned(recovered: boolean): void {
    this.#returns += 1;
    if (recovered) return;
    this.#unrecovered += 1;
    this.#told();
  }

  gap(): void {
    this.#gaps += 1;
    this.#told();
  }

  fault(what: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(what);
  }

  /** @param sent the last number of each channel; no event comes after this call */
  close(sent: Readonly<Record<string, number>>): ClientReport {
    const holes = [...this.#channels].flatMap(([channel, account]) => account.close(sent[channel] ?? 0));
    const accounts = [...this.#channels.values()];
    const sum = (of: (account: ChannelAccount) => number): number =>
      accounts.reduce((total, account) => total + of(account), 0);
    const lost = { told: 0, late: 0, untold: 0 };
    for (const { from, to, knowledge } of holes) lost[knowledge] += to - from + 1;
    return {
      client: this.#client,
      field: this.#field,
      received: sum(({ received }) => received),
      lost,
      doubled: sum(({ doubled }) => doubled),
      reordered: sum(({ reordered }) => reordered),
      returns: this.#returns,
      unrecovered: this.#unrecovered,
      gaps: this.#gaps,
      faults: this.#faults,
      holes,
    };
  }

  #told(): void {
    for (const account of this.#channels.values()) account.told();
  }
}
