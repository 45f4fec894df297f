import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/helpers/eventually.ts';
import type { Scope } from '../../test/helpers/scope.ts';
import { ChaosClients } from './chaos-clients.ts';
import { PARTITIONS, prepareGraph } from './chaos-graph.ts';
import type { ChaosAnswers, Numbers } from './chaos-messages.ts';
import { ChaosPods, type PodDeployment } from './chaos-pods.ts';
import { ChaosRedis, type RedisKind } from './chaos-redis.ts';
import type { ClientReport } from './client-account.ts';
import { NumberedStream } from './numbered-stream.ts';
import { channelName, TIMED } from './subscriptions.ts';
import type { Promised } from './verdict.ts';

/** The size of a run. */
export interface Size {
  readonly clients: number;
  readonly pods: number;
  readonly channels: number;
  /** Events a second, over all channels. */
  readonly perSecond: number;
  /** Seconds of stream before the fault, and after it. */
  readonly calmSeconds: number;
  /** Seconds that the fault lasts, if the scenario has one that lasts. */
  readonly faultSeconds: number;
  /** Clients know nothing of cursors and gaps, and subscribe to a field without history. */
  readonly stock: boolean;
}

export interface Scenario {
  readonly summary: string;
  readonly promised: Promised;
  /** Redis has its data when it starts again. */
  readonly redisKeeps?: boolean;
  readonly hasReplica?: boolean;
  /** The scenario works neither with a cluster nor with Sentinels. */
  readonly needsSingle?: boolean;
  /** Clients that stay while the others leave and return, and how many events a second each of them gets. */
  readonly stayers?: { readonly clients: number; readonly perSecond: number };
  /** @returns further failures, in words */
  happen(world: World): Promise<readonly string[] | void>;
}

/** How the deployment of pods and Redis differs from the default. */
export interface Deployment extends PodDeployment {
  readonly redis: RedisKind;
}

/** The limit for one process: its clients parse every message. */
const CLIENTS_PER_PROCESS = 2_000;

/** How long the run waits for events or greetings that may never come. */
const PATIENCE_MS = 60_000;

const LOOK_MS = 100;

/** Keys that gateways keep for good, a few for each topic: the bus's identity, versions, states of histories. */
const KEPT = /@bus|@version|@history:\{[^}]+\}$/;

/** A copy of an event comes within this time after the clients have got all events. */
const DOUBLES_MS = 1_000;

/** Resolves after this time, in which the stream goes on. */
export async function passes(seconds: number): Promise<void> {
  await delay(seconds * 1_000);
}

/** Real services, a stream of events, and clients that resume: all of it ends with its scope. */
export class World {
  readonly size: Size;
  readonly redis: ChaosRedis;
  readonly pods: ChaosPods;
  readonly #streams: readonly NumberedStream[];
  /** Clients that connect again when they have lost their connection. */
  readonly crowd: readonly ChaosClients[];
  /** Clients whose connections are left alone, and whose events are timed. */
  readonly stayers: readonly ChaosClients[];
  /** Logs the progress of the run. */
  readonly say: (text: string) => void;

  private constructor(
    parts: Pick<World, 'size' | 'redis' | 'pods' | 'crowd' | 'stayers' | 'say'>,
    streams: readonly NumberedStream[],
  ) {
    this.size = parts.size;
    this.redis = parts.redis;
    this.pods = parts.pods;
    this.crowd = parts.crowd;
    this.stayers = parts.stayers;
    this.say = parts.say;
    this.#streams = streams;
  }

  /** Resolves when all clients are subscribed, and the stream flows. */
  static async start(
    scope: Scope,
    scenario: Scenario,
    size: Size,
    deployment: Deployment,
    say: (text: string) => void,
  ): Promise<World> {
    const { redisKeeps: keeps = false, hasReplica = false, stayers } = scenario;
    const graph = await prepareGraph(scope);
    const redis = await ChaosRedis.start(scope, deployment.redis, { keeps, hasReplica });
    const settings = { ...redis.settings, ...deployment.settings };
    const pods = new ChaosPods(scope, graph, { ...deployment, settings });
    await pods.start(size.pods);
    const clients = (first: number, count: number, times: boolean): ChaosClients => {
      const endpoint = { host: '127.0.0.1', port: pods.port };
      const assignment = {
        endpoint,
        first,
        clients: count,
        channels: size.channels,
        times,
        stock: size.stock,
      };
      return new ChaosClients(scope, assignment, { isPolite: stayers !== undefined && !times });
    };
    const processes = Math.ceil(size.clients / CLIENTS_PER_PROCESS);
    const firsts = Array.from({ length: processes }, (_, index) => index * CLIENTS_PER_PROCESS);
    const stream = (channels: readonly string[], perSecond: number): NumberedStream =>
      new NumberedStream({ topics: graph.topics, partitions: PARTITIONS, channels, perSecond });
    const names = Array.from({ length: size.channels }, (_, index) => channelName(index));
    const parts = {
      size,
      redis,
      pods,
      crowd: firsts.map((first) =>
        clients(first, Math.min(CLIENTS_PER_PROCESS, size.clients - first), false),
      ),
      stayers: stayers === undefined ? [] : [clients(size.clients, stayers.clients, true)],
      say,
    };
    const world = new World(parts, [
      stream(names, size.perSecond),
      ...(stayers === undefined ? [] : [stream([TIMED], stayers.perSecond)]),
    ]);
    await Promise.all(world.#streams.map((one) => one.connect(scope)));
    for (const some of world.all) await some.open();
    await world.untilGreeted();
    // The server does not tell a stock client when its subscription has begun.
    if (size.stock === true)
      await eventually(async () => assert.equal(await pods.metric('sluice_subscribers'), size.clients));
    for (const one of world.#streams) one.start(scope);
    await passes(size.calmSeconds);
    return world;
  }

  get all(): readonly ChaosClients[] {
    return [...this.crowd, ...this.stayers];
  }

  /** The last number of each channel that Kafka has acknowledged. */
  get sent(): Numbers {
    return Object.assign({}, ...this.#streams.map(({ sent }) => sent)) as Numbers;
  }

  /** @throws if some clients are not greeted within PATIENCE_MS */
  async untilGreeted(): Promise<void> {
    const { greeted, expected } = await this.#count('greeted', {});
    if (greeted < expected) {
      throw new Error(
        `expected ${expected} clients to be greeted, got ${greeted}: a gateway that knows of resuming answers ` +
          `\`extensions.resume\` with a result that holds \`extensions.recovered\``,
      );
    }
  }

  /** Resolves when all clients have got all events sent by now, or after PATIENCE_MS. */
  async untilComplete(): Promise<void> {
    const { complete, expected } = await this.#count('complete', this.sent);
    if (complete < expected) this.say(`${expected - complete} clients have not got the last events`);
  }

  /** Ends the stream, waits until the clients have got its events, and makes the account of each client. */
  async close(): Promise<readonly ClientReport[]> {
    await Promise.all(this.#streams.map((stream) => stream.stop()));
    await this.untilComplete();
    await delay(DOUBLES_MS);
    const reports = await Promise.all(this.all.map((clients) => clients.close(this.sent)));
    return reports.flat();
  }

  /** To be called after `close`: ends the pods. @returns keys that stay in Redis and should not, in words */
  async leave(): Promise<readonly string[]> {
    await this.pods.stop();
    const lasting = (await this.redis.lasting()).filter((key) => !KEPT.test(key));
    return lasting.map((key) => `expected nothing to stay in Redis without an expiry, got ${key}`);
  }

  /** Counts again and again until all clients are greeted or complete, or PATIENCE_MS have passed. */
  async #count(
    what: keyof ChaosAnswers['count'],
    sent: Numbers,
  ): Promise<{ readonly greeted: number; readonly complete: number; readonly expected: number }> {
    const expected = this.all.reduce((sum, { count }) => sum + count, 0);
    for (const deadline = performance.now() + PATIENCE_MS; ;) {
      const counts = await Promise.all(this.all.map((clients) => clients.counts(sent)));
      const sum = (of: keyof ChaosAnswers['count']): number =>
        counts.reduce((total, count) => total + count[of], 0);
      const now = { greeted: sum('greeted'), complete: sum('complete'), expected };
      if (now[what] === expected || performance.now() > deadline) return now;
      await delay(LOOK_MS);
    }
  }
}
