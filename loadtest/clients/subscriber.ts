import type { Assignment } from './client-messages.ts';
import type { Receiver } from './raw-client.ts';
import { messagesOf, type Connection, type Received } from './transports.ts';
import { bodyText, channelOf, idOf, QUERY, SEQ_DIGITS, variablesOf, type Update } from '../run/workload.ts';

/** The counts that the subscribers of a process share. */
export interface Tally {
  open: number;
  deliveries: number;
  bytes: number;
  readonly delays: number[];
  closed(subscriber: Subscriber, ending: string): void;
  fault(what: string): void;
}

interface Payload {
  readonly data?: { readonly update: Update } | null;
  readonly extensions?: { readonly recovered?: boolean };
}

const ZERO = 0x30;

/**
 * One subscription on one socket. Each event of its channel must come once, in order. The first frame is parsed, and
 * shows where all frames of the same length have their number.
 */
export class Subscriber implements Receiver {
  /** Whether the socket stops reading in the flood. */
  readonly stalls: boolean;
  readonly #index: number;
  readonly #load: Assignment['load'];
  readonly #parses: boolean;
  readonly #tally: Tally;
  readonly #client: Connection;
  /** The number of the last event; the first event may have any number. */
  #last: number | undefined;
  #length = 0;
  #digitsAt = 0;

  constructor(index: number, localAddress: string, assignment: Assignment, stalls: boolean, tally: Tally) {
    const { endpoints, load, sampleEvery } = assignment;
    const endpoint = endpoints[index % endpoints.length];
    if (endpoint === undefined) throw new RangeError('expected at least one endpoint, got none');
    this.#index = index;
    this.stalls = stalls;
    this.#load = load;
    this.#parses = index % sampleEvery === 0;
    this.#tally = tally;
    this.#client = messagesOf(load.transport).connect(endpoint, localAddress, this, idOf(index, load), {
      query: QUERY,
      variables: variablesOf(index, load),
      ...(load.resumes === true && { extensions: { resume: null } }),
    });
  }

  /** The number of the last event that has come; 0: none has come. */
  get last(): number {
    return this.#last ?? 0;
  }

  acknowledged(): void {
    this.#tally.open += 1;
  }

  read(bytes: number): void {
    this.#tally.bytes += bytes;
  }

  text(bytes: Buffer, start: number, end: number): void {
    const seq = this.#parses || end - start !== this.#length ? this.#parse(bytes, start, end) : 0;
    if (seq === undefined) return;
    const got = seq > 0 ? seq : this.#number(bytes, start + this.#digitsAt);
    if (this.#last !== undefined && got !== this.#last + 1) {
      this.#tally.fault(`socket ${this.#index}: expected event ${this.#last + 1} to come next, got ${got}`);
    }
    this.#last = got;
    this.#tally.deliveries += 1;
  }

  ended(ending: string): void {
    this.#tally.closed(this, ending);
  }

  stall(): void {
    this.#client.pause();
  }

  release(): void {
    this.#client.resume();
  }

  /** @returns the event's number; 0 if the message is wrong; undefined if it may come and is not an event */
  #parse(bytes: Buffer, start: number, end: number): number | undefined {
    const text = bytes.toString('utf8', start, end);
    const { transport, resumes } = this.#load;
    const received = messagesOf(transport).read(text) as Received<Payload> | undefined;
    // An HTTP stream begins with a message without a result, and any transport but the default may send heartbeats.
    if (received === undefined && transport !== undefined) return undefined;
    if (resumes === true && received?.payload.extensions?.recovered === true) return undefined;
    const update = received?.payload.data?.update;
    if (received === undefined || update === undefined) {
      this.#tally.fault(`socket ${this.#index}: expected a result, got ${text.slice(0, 200)}`);
      return 0;
    }
    this.#tally.delays.push(Date.now() - update.sent_at);
    const { id } = received;
    const wanted = {
      id: id === undefined ? undefined : idOf(this.#index, this.#load),
      channel: channelOf(this.#index, this.#load),
      text: bodyText(this.#load),
    };
    if (id !== wanted.id || update.channel !== wanted.channel || update.body_text !== wanted.text) {
      this.#tally.fault(
        `socket ${this.#index}: expected ${JSON.stringify(wanted)}, got ${text.slice(0, 200)}`,
      );
    }
    this.#length = end - start;
    // The quotes exclude an id with the same digits.
    this.#digitsAt = text.indexOf(`"${update.seq}"`) + 1;
    return Number(update.seq);
  }

  #number(bytes: Buffer, at: number): number {
    let number = 0;
    for (let index = at; index < at + SEQ_DIGITS; index += 1) {
      number = number * 10 + (bytes[index] ?? 0) - ZERO;
    }
    return number;
  }
}
