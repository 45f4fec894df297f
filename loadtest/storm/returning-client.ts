import { RawClient, type Receiver } from '../clients/raw-client.ts';
import { QUERY } from '../run/workload.ts';

/** The wait of graphql-ws before it tries again: a second, doubled each time, plus a random time of 0.3 to 3 s. */
const FIRST_MS = 1_000;
const RANDOM_MS = { least: 300, most: 3_000 };

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

interface Owner {
  /** Called when the server has answered the ping that follows the subscription. */
  subscribed(): void;
  refused(): void;
}

/** A client with one subscription, which connects again as long as the server refuses it. */
export class ReturningClient implements Receiver {
  readonly #endpoint: Endpoint;
  readonly #localAddress: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #owner: Owner;
  #client: RawClient | undefined;
  #refusals = 0;

  constructor(
    endpoint: Endpoint,
    localAddress: string,
    variables: Readonly<Record<string, string>>,
    owner: Owner,
  ) {
    this.#endpoint = endpoint;
    this.#localAddress = localAddress;
    this.#variables = variables;
    this.#owner = owner;
  }

  connect(): void {
    this.#client = new RawClient(this.#endpoint, this.#localAddress, this);
  }

  /** Breaks the connection. */
  cut(): void {
    this.#client?.destroy();
    this.#client = undefined;
  }

  acknowledged(): void {
    this.#refusals = 0;
    this.#client?.send({ id: '1', type: 'subscribe', payload: { query: QUERY, variables: this.#variables } });
    this.#client?.send({ type: 'ping' });
  }

  text(bytes: Buffer, start: number, end: number): void {
    const { type } = JSON.parse(bytes.toString('utf8', start, end)) as { type: string };
    if (type === 'pong') this.#owner.subscribed();
  }

  ended(ending: string): void {
    if (ending !== 'refused' || this.#client === undefined) return;
    this.#owner.refused();
    const wait = FIRST_MS * 2 ** this.#refusals;
    this.#refusals += 1;
    const { least, most } = RANDOM_MS;
    setTimeout(() => this.connect(), wait + least + Math.random() * (most - least));
  }
}
