import { startPosition } from '../../../src/client/position.ts';
import { Receiver, type Received } from '../oracle/receiver.ts';
import type { Random } from '../../helpers/random.ts';
import type { VirtualTime } from '../time/virtual-time.ts';
import { ClientConnection, type ClientHost } from './client-connection.ts';
import type { Asked } from './graph.ts';

/** A pod that a client may connect to. */
export interface ClientPod extends ClientHost {
  /** The connections to the pod, also those that are being made. */
  readonly connections: Set<ClientConnection>;
  admit(connection: ClientConnection, client: SimulatedClient, cursor: unknown): void;
}

interface Options {
  readonly name: string;
  readonly asked: Asked;
  /** The time that the client takes for a message, in ms. */
  readonly takesMs: number;
  readonly time: VirtualTime;
  readonly random: Random;
  /** The pods that take connections. */
  readonly pods: () => readonly ClientPod[];
  readonly trace: (text: () => string) => void;
}

/** The wait between the end of a connection and the next one; `most` if there is no pod. */
const AGAIN_MS = { least: 20, most: 1_500 };

/** A client with `sluice/client`, which resumes on any pod when its connection is lost. It never leaves. */
export class SimulatedClient extends Receiver {
  /** How often the client has resumed without missing an event. */
  resumed = 0;
  readonly #options: Options;
  readonly #position: ReturnType<typeof startPosition>;
  #connection: ClientConnection | undefined;
  #greetedAt = 0;
  /** When the client last connected. */
  #connectedAt = 0;
  #connections = 0;
  /** Whether the client then asked for the events that it had missed. */
  #isResuming = false;
  /** Whether the client's present subscription has begun. */
  #isGreeted = false;

  constructor(options: Options) {
    super(options.name, options.asked);
    this.#options = options;
    this.#position = startPosition(
      {},
      () => this.#connections,
      ({ reason }) => {
        const at = options.time.now;
        this.told.push({ at, afterMs: reason === 'gap' ? at - this.#greetedAt : undefined });
        options.trace(() => `is told that events may be missing (${reason})`);
      },
    );
  }

  /** The name of the pod that the client is connected to. */
  get pod(): string {
    return this.#connection?.host.name ?? 'no pod';
  }

  connect(): void {
    if (this.#connection !== undefined) return;
    const { time, random, pods, trace, takesMs } = this.#options;
    const present = pods();
    if (present.length === 0) {
      time.after(AGAIN_MS.most, undefined, () => this.connect());
      return;
    }
    const pod = random.pick(present);
    const latencyMs = (): number => 0.2 + random.next();
    const connection: ClientConnection = new ClientConnection({
      time,
      host: pod,
      latencyMs,
      takesMs,
      take: (json) => this.#take(json),
      lost: () => {
        this.#over();
        const { least, most } = AGAIN_MS;
        time.after(least + random.next() * (most - least), undefined, () => this.connect());
      },
    });
    this.#connection = connection;
    this.#connections += 1;
    pod.connections.add(connection);
    const { resume } = this.#position.payload.extensions ?? {};
    this.#connectedAt = time.now;
    this.#isResuming = resume !== null;
    if (!this.#isResuming) this.beginnings += 1;
    trace(() => `connects to ${pod.name} with ${String(resume)}`);
    time.after(latencyMs(), pod.owner, () => pod.admit(connection, this, resume));
  }

  /** Cuts the client's connection. @returns false if there was none */
  cut(): boolean {
    const connection = this.#connection;
    this.#over();
    connection?.cut();
    return connection !== undefined;
  }

  /** Whether the client's subscription has begun, and it has taken all messages. */
  get isSettled(): boolean {
    return this.#isGreeted && this.#connection?.isSettled === true;
  }

  #over(): void {
    this.#connection = undefined;
    this.#isGreeted = false;
  }

  #take(json: string): void {
    const { time, trace } = this.#options;
    const result = JSON.parse(json) as Received;
    const { recovered, cursor } = result.extensions ?? {};
    if (recovered !== undefined) {
      if (recovered && this.joinedAt !== undefined) this.resumed += 1;
      this.#greetedAt = time.now;
      this.beganAt = recovered && this.#isResuming ? undefined : this.#connectedAt;
      this.joinedAt ??= time.now;
      if (this.#connection !== undefined) this.servers = this.#connection.host.servers;
      this.#isGreeted = true;
      trace(() => `is greeted: ${json}`);
    }
    if (!this.#position.take(result)) return;
    const number = this.note(result);
    if (number !== undefined) trace(() => `takes ${number} at ${cursor}`);
  }
}
