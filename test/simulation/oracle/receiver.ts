import type { Group } from '../../../src/hub/group.ts';
import type { Asked } from '../world/graph.ts';

/** A message to a receiver that events may be missing. */
export interface Telling {
  readonly at: number;
  /** How long the present subscription had existed; undefined: the telling came when it began. */
  readonly afterMs: number | undefined;
}

/** Names of the Redis servers that a pod is connected to. */
export interface RedisServers {
  readonly listening: readonly string[];
  /** The servers that the pod sends commands to, for instance to read a history. */
  readonly commands: readonly string[];
}

interface Delivery {
  readonly number: number;
  /** How often the receiver had been told before that events may be missing. */
  readonly tellings: number;
  /** How often the receiver had begun anew before, without a cursor. */
  readonly beginnings: number;
  /** When the subscription began with the last events; undefined: it resumed. */
  readonly beganAt: number | undefined;
  readonly cursor: unknown;
  /** The servers of the pod when the connection began that brought the event. */
  readonly servers: RedisServers;
  readonly pod: string;
}

/** A `next` of the protocol. */
export interface Received {
  readonly data?: Readonly<Record<string, { readonly number?: number } | null>> | null;
  readonly errors?: unknown;
  readonly extensions?: {
    readonly cursor?: string;
    readonly recovered?: boolean;
    readonly gap?: { readonly topic: string };
  };
}

/** A subscriber of one pod, or a client that resumes, with all that it is judged by. */
export abstract class Receiver {
  readonly name: string;
  readonly asked: Asked;
  readonly deliveries: Delivery[] = [];
  /** Results that are no events, as JSON. */
  readonly faults: string[] = [];
  /** The tellings that events may be missing. */
  readonly told: Telling[] = [];
  /** From this time on, the receiver must get all events, or be told. */
  joinedAt: number | undefined;
  endedAt: number | undefined;
  protected beganAt: number | undefined;
  protected beginnings = 0;
  protected servers: RedisServers = { listening: [], commands: [] };
  group: Group | undefined;

  constructor(name: string, asked: Asked) {
    this.name = name;
    this.asked = asked;
  }

  abstract readonly pod: string;

  /** @returns the number of the event; undefined if the result is no event */
  protected note(result: Received): number | undefined {
    const number = result.data?.[this.asked.topic]?.number;
    if (number === undefined) this.faults.push(JSON.stringify(result));
    else {
      const { told, beginnings, beganAt, servers, pod } = this;
      const { cursor } = result.extensions ?? {};
      this.deliveries.push({ number, tellings: told.length, beginnings, beganAt, cursor, servers, pod });
    }
    return number;
  }
}
