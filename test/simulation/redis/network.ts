import type { Random } from '../../helpers/random.ts';
import type { Owner, VirtualTime } from '../time/virtual-time.ts';
import type { SimulatedRedis } from './server.ts';

/** The latency of a network without faults. */
export const LATENCY_MS = [0.2, 1] as const;

/** The way between one pod and Redis, which faults change. */
export interface Route {
  latencyMs: readonly [least: number, most: number];
  /** Bytes arrive no earlier than this: TCP sends them again until the way is free. */
  blockedUntil: number;
  /** Listening connections that are made before this time carry nothing. */
  deafUntil: number;
}

interface Options {
  readonly time: VirtualTime;
  readonly random: Random;
  /** Returns the server that the pods' address leads to at present. */
  readonly target: () => SimulatedRedis;
}

/** Knows which server an address leads to, and how long bytes take. */
export class Network {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly #options: Options;
  readonly #routes: Map<Owner, Route>;

  constructor(options: Options, routes = new Map<Owner, Route>()) {
    this.#options = options;
    this.#routes = routes;
    this.time = options.time;
    this.random = options.random;
  }

  /** The same network for another address. */
  to(target: () => SimulatedRedis): Network {
    return new Network({ ...this.#options, target }, this.#routes);
  }

  get target(): SimulatedRedis {
    return this.#options.target();
  }

  route(pod: Owner): Route {
    const known = this.#routes.get(pod);
    if (known !== undefined) return known;
    const route: Route = { latencyMs: LATENCY_MS, blockedUntil: 0, deafUntil: 0 };
    this.#routes.set(pod, route);
    return route;
  }

  /** The time until all routes are free, in ms. */
  get blockedForMs(): number {
    const until = [...this.#routes.values()].map(({ blockedUntil }) => blockedUntil);
    return Math.max(0, ...until.map((at) => at - this.time.now));
  }

  /** Returns when bytes arrive that are sent now. */
  arrival({ latencyMs: [least, most], blockedUntil }: Route): number {
    const latency = least + this.random.next() * (most - least);
    return Math.max(this.time.now, blockedUntil) + latency;
  }
}
