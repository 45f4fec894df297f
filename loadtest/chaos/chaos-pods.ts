import { startGateway, type GatewayProcess } from '../../test/helpers/gateway.ts';
import { startNginx, type Nginx } from '../../test/helpers/nginx.ts';
import type { Scope } from '../../test/helpers/scope.ts';
import { kafkaBrokers } from '../../test/helpers/services.ts';
import type { ChaosGraph } from './chaos-graph.ts';

/** The pino level of warnings. */
const WARN = 40;

/** The number of lines, the last of each pod's log, that are shown when a run fails. */
const LINES_TOLD = 15;

/** How the deployment of the pods differs from the default. */
export interface PodDeployment {
  /** The program of the version that the pods run at first; absent: this version. */
  readonly before?: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Gateways behind nginx, which are added and removed. They end with their scope. */
export class ChaosPods {
  /** The programs of successive rollouts: to this version, back to the one before, and to this one again. */
  readonly rollouts: readonly (string | undefined)[];
  readonly #scope: Scope;
  readonly #before: string | undefined;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #all: GatewayProcess[] = [];
  #nginx: Nginx | undefined;
  #now: GatewayProcess[] = [];

  constructor(scope: Scope, { folder, id }: ChaosGraph, { before, settings }: PodDeployment) {
    this.#scope = scope;
    this.#before = before;
    this.rollouts = before === undefined ? [undefined] : [undefined, before, undefined];
    this.#settings = {
      GRAPH: folder,
      KAFKA_BROKERS: kafkaBrokers(),
      KAFKA_GROUP_ID: id,
      REDIS_PREFIX: `${id}:`,
      DRAIN_DELAY_SECONDS: '1',
      DRAIN_SECONDS: '5',
      ...settings,
    };
  }

  /** The pods that get connections. */
  get now(): readonly GatewayProcess[] {
    return this.#now;
  }

  /** The port of nginx. */
  get port(): number {
    return Number(this.#nginx?.address.split(':')[1]);
  }

  async start(count: number): Promise<void> {
    this.#now = await Promise.all(Array.from({ length: count }, () => this.#startOne(this.#before)));
    this.#nginx = await startNginx(
      this.#scope,
      this.#now.map(({ port }) => port),
    );
  }

  /** Replaces a pod as a rolling update does: starts a new pod, then drains `old`. @returns the exit code of `old` */
  async replace(old: GatewayProcess, cli?: string): Promise<number | null> {
    const fresh = await this.#startOne(cli);
    const ended = old.stop('SIGTERM');
    // The pod's log says that it drains; its admin endpoint, which says so too, may already be gone.
    await old.untilLog(/"draining"/);
    await this.#use([...this.#now.filter((pod) => pod !== old), fresh]);
    return ended;
  }

  /** Kills a pod at once, and starts another one in its place. */
  async kill(pod: GatewayProcess): Promise<void> {
    await pod.stop('SIGKILL');
    await this.#use(this.#now.filter((one) => one !== pod));
    await this.#use([...this.#now, await this.#startOne()]);
  }

  /** Ends all pods, and starts none in their place. */
  async stop(): Promise<void> {
    await Promise.all(this.#now.map((pod) => pod.stop()));
  }

  /** The sum over the pods that get connections. */
  async metric(name: string): Promise<number> {
    const values = await Promise.all(this.#now.map((pod) => pod.metric(name)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** Returns the last warnings and errors in the log of each pod. */
  complaints(): string[] {
    return this.#all.flatMap(({ lines, child }) =>
      lines
        .filter(({ level }) => level >= WARN)
        .slice(-LINES_TOLD)
        .map((line) => `pod ${child.pid}: ${JSON.stringify(line)}`),
    );
  }

  async #startOne(cli?: string): Promise<GatewayProcess> {
    const pod = await startGateway(this.#scope, this.#settings, cli);
    this.#all.push(pod);
    await pod.untilReady();
    return pod;
  }

  async #use(pods: GatewayProcess[]): Promise<void> {
    this.#now = pods;
    await this.#nginx?.use(pods.map(({ port }) => port));
  }
}
