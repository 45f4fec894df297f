import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { GraphQLError } from 'graphql';
import type { GapListener, Listener, Subscription } from '../../../../src/bus/bus.ts';
import type { HistoryPosition, HistoryRead } from '../../../../src/bus/history.ts';
import { MemoryBus } from '../../../../src/bus/memory-bus.ts';
import type { Operation } from '../../../../src/executor/operation.ts';
import type { Stream } from '../../../../src/graph/graph.ts';
import { Group } from '../../../../src/hub/group.ts';
import type { Hub } from '../../../../src/hub/hub.ts';
import type { Wish } from '../../../../src/hub/resume/recording-request.ts';
import type { SerializedResult } from '../../../../src/hub/result.ts';
import type { Subscriber } from '../../../../src/hub/subscriber.ts';
import type { Json } from '../../../../src/lazy/reads.ts';
import { createLog } from '../../../../src/log.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { operation, settled, setUpOn } from '../parts.ts';
import { holdTimers } from '../../turns.ts';

const TOPIC = 'bids';

type Options = NonNullable<Parameters<typeof setUpOn>[1]> & {
  /** That the bus keeps. Default: 50. */
  readonly size?: number;
  /** Whether the bus keeps events before anyone has subscribed. */
  readonly keepsAll?: boolean;
};

/** A hub on a bus that keeps history, where timers are held. Clients ask for the same operation. */
export function world(t: TestContext, { size = 50, keepsAll = false, ...options }: Options = {}) {
  holdTimers(t);
  const bus = busWith(size, keepsAll);
  const parts = setUpOn(bus, { streams: keeping(size, keepsAll), ...options });
  const asked = operation();
  const client = (viewer: Json = {}): Client => new Client(parts.hub, viewer, asked);
  const lost = async (...viewers: readonly Json[]): Promise<Client[]> => {
    const clients = viewers.map(client);
    for (const each of clients) each.connect();
    await settled();
    for (const each of clients) each.disconnect();
    return clients;
  };
  return {
    ...parts,
    bus,
    asked,
    client,
    /** Has events with these numbers come, on channels of the topic. */
    async publish(numbers: readonly number[], ...keys: readonly string[]): Promise<void> {
      for (const n of numbers) await publish(bus, n, ...(keys.length > 0 ? keys : ['a']));
    },
    /** Clients that were greeted, and have lost their connections then. */
    lost,
    lostOne: async (): Promise<Client> => (await lost({}))[0] ?? assert.fail(),
  };
}

/** What a subscriber wants recorded that lacks all behind this sequence. */
export const wishOf = (sequence: number, owner: object = {}, more: Partial<Wish> = {}): Wish => ({
  at: { epoch: 'abc', sequence },
  owner,
  leaving: new AbortController().signal,
  ...more,
});

/** The streams of a graph that says so of the topic. */
export function keeping(size: number, keepsAll = false): ReadonlyMap<string, Stream> {
  return new Map([[TOPIC, { name: TOPIC, history: { size, ttlMs: 60_000, keepsAll } }]]);
}

/** A memory bus that keeps history of the topic. */
export function busWith(size: number, keepsAll = false): LossyBus {
  return new LossyBus({
    lingerMs: 0,
    histories: new Map([[TOPIC, { size, ttlMs: 60_000, keepsAll }]]),
    metrics: new Metrics(),
    log: createLog('silent'),
  });
}

/** A message of the topic, as text. */
export function payloadOf(n: number, more: object = {}, rest: object = {}): string {
  const place = { t: TOPIC, id: 'bids-1', p: 0, o: n };
  return JSON.stringify({ v: 1, ...place, ts: n, in: 0, key: null, event: { n, ...more }, ...rest });
}

/** Publishes one event on channels of the topic. */
export async function publish(bus: MemoryBus, n: number, ...keys: string[]): Promise<void> {
  const payload = payloadOf(n);
  const publications = keys.map((key) => ({ channel: `bids:id=${key}`, payload }));
  await bus.publish(TOPIC, publications);
}

interface Result {
  readonly errors?: unknown;
  readonly data: { readonly n: number } | null;
  readonly extensions?: { readonly cursor?: string; readonly recovered?: boolean; readonly gap?: object };
}

/** A client that resumes, over one connection after another. */
export class Client {
  isBehind = false;
  viewer: Json;
  /** Events that it has got, and `undefined` wherever it was told that some may be missing. */
  readonly heard: (number | undefined)[] = [];
  /** Events that a throttle has left out, as it was told. */
  skipped = 0;
  readonly errors: unknown[] = [];
  /** The greetings of each subscription. */
  readonly greetings: boolean[] = [];
  ended: readonly GraphQLError[] | undefined;
  cursor: string | null = null;
  readonly #hub: Hub;
  readonly #asked: Operation;
  #connected: { readonly group: Group; readonly as: Subscriber } | undefined;

  constructor(hub: Hub, viewer: Json, asked: Operation) {
    this.#hub = hub;
    this.viewer = viewer;
    this.#asked = asked;
  }

  get numbers(): readonly number[] {
    return this.heard.filter((n) => n !== undefined);
  }

  get isConnected(): boolean {
    return this.#connected !== undefined;
  }

  /** Subscribes, with a subscription of its own for each connection. */
  connect(keys: string | readonly string[] = 'a'): this {
    const viewerNow = (): Json => this.viewer;
    const isBehindNow = (): boolean => this.isBehind;
    const as: Subscriber = {
      owner: {},
      wantsGaps: true,
      get viewer() {
        return viewerNow();
      },
      get isBehind() {
        return isBehindNow();
      },
      deliver: (result) => {
        assert.equal(this.#connected === undefined || this.#connected.as === as, true);
        this.skipped += result.leftOutFor(as);
        this.#take(result);
      },
      reconnect: () => assert.fail('it has asked to be told of gaps'),
      end: (errors) => (this.ended = errors),
    };
    const group = this.#hub.join(this.#asked, { id: keys }, as, { cursor: this.cursor });
    assert.ok(group instanceof Group);
    this.#connected = { group, as };
    return this;
  }

  /** Its viewer is replaced, as by a new token. */
  become(viewer: Json): void {
    const previous = this.viewer;
    this.viewer = viewer;
    if (this.#connected !== undefined) this.#connected.group.viewerChanged(this.#connected.as, previous);
  }

  /** Its connection is about to be closed, as by a pod that drains. */
  flush(): void {
    if (this.#connected !== undefined) this.#connected.group.flushFor(this.#connected.as);
  }

  disconnect(): void {
    if (this.#connected !== undefined) this.#hub.leave(this.#connected.group, this.#connected.as);
    this.#connected = undefined;
  }

  #take(serialized: SerializedResult): void {
    const { errors, data, extensions = {} } = JSON.parse(serialized.withCursor.json.toString()) as Result;
    if (errors !== undefined) this.errors.push(errors);
    if (extensions.recovered !== undefined) this.greetings.push(extensions.recovered);
    if (extensions.recovered === false || extensions.gap !== undefined) this.heard.push(undefined);
    if (data !== null) this.heard.push(data.n);
    if (extensions.cursor !== undefined) this.cursor = extensions.cursor;
  }
}

/** A memory bus that can lose messages on their way to the listeners, as a connection does. */
export class LossyBus extends MemoryBus {
  isLosing = false;
  #tellGap: GapListener = () => undefined;
  #deaf: { readonly at: HistoryPosition | undefined; readonly held: (() => void)[] } | undefined;

  /** Nothing is heard until history is read, as over a connection that is half open, and then made again. */
  deafen(): void {
    this.#deaf = { at: this.position(TOPIC), held: [] };
  }

  override position(topic: string): HistoryPosition | undefined {
    return this.#deaf ? this.#deaf.at : super.position(topic);
  }

  override async readHistory(...asked: Parameters<MemoryBus['readHistory']>): Promise<HistoryRead> {
    const { held = [] } = this.#deaf ?? {};
    this.#deaf = undefined;
    for (const hear of held) hear();
    return super.readHistory(...asked);
  }

  override onGap(listener?: GapListener): void {
    if (listener !== undefined) this.#tellGap = listener;
  }

  override subscribe(topic: string, channel: string, listener: Listener): Subscription {
    return super.subscribe(topic, channel, (payload) => {
      if (this.#deaf !== undefined) this.#deaf.held.push(() => listener(payload));
      else if (!this.isLosing) listener(payload);
    });
  }

  /** Messages reach listeners again, which are told that some have not. */
  heal(): void {
    this.isLosing = false;
    this.#tellGap(TOPIC);
  }
}
