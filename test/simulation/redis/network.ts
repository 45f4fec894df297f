import type { Random } from '../../helpers/random.ts';
import type { Owner, VirtualTime } from '../time/virtual-time.ts';
import type { SimulatedRedis } from './server.ts';

/** The latency of a network without faults. */
export const LATENCY_MS = [0.2, 1] as const;

/** The way between one pod and Redis. Faults change it. */
export interface Route {
  latencyMs: readonly [least: number, most: number];
  /** Bytes on the way arrive no earlier than this: TCP sends them again until the way is free. */
  blockedUntil: number;
  /** Connections that listen, and are made before, carry nothing. */
  deafUntil: number;
}

interface Options {
  readonly time: VirtualTime;
  readonly random: Random;
  /** What the address that pods connect to leads to at present. */
  readonly target: () => SimulatedRedis;
}

/** Which server an address leads to, and how long bytes take there. */
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

  /** The same network, as another address uses it. */
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

  /** How long until no route is blocked any more. */
  get blockedForMs(): number {
    const until = [...this.#routes.values()].map(({ blockedUntil }) => blockedUntil);
    return Math.max(0, ...until.map((at) => at - this.time.now));
  }

  /** When what is sent now arrives. */
  arrival({ latencyMs: [least, most], blockedUntil }: Route): number {
    const latency = least + this.random.next() * (most - least);
    return Math.max(this.time.now, blockedUntil) + latency;
  }
}
