/** The gateway's parts for benchmarks: if the interface of a part changes, only this file has to follow. */
import path from 'node:path';
import type { Listener, Subscription } from '../../src/bus/bus.ts';
import { Contexts } from '../../src/context/event-scope.ts';
import { Executor } from '../../src/executor/executor.ts';
import { loadGraph, type LoadedGraph } from '../../src/graph/loader/load-graph.ts';
import { BoundedLabels } from '../../src/support/bounded-labels.ts';
import { Flusher } from '../../src/transports/delivery/flusher.ts';
import { writeId } from '../../src/transports/delivery/frame-format.ts';
import { idText, NEXT_FRAMES } from '../../src/transports/websocket/frame.ts';
import { Group } from '../../src/hub/group.ts';
import { Hub } from '../../src/hub/hub.ts';
import { FairLimiter } from '../../src/support/fair-limiter.ts';
import type { Subscriber } from '../../src/hub/subscriber.ts';
import { SendQueue, type FrameSink } from '../../src/transports/delivery/send-queue.ts';
import { SerializedResult } from '../../src/hub/result.ts';
import { FrameBatchCache } from '../../src/transports/delivery/frame-batch.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';

type Result = ConstructorParameters<typeof SerializedResult>[0];

export const auctionGraph = (): Promise<LoadedGraph> =>
  loadGraph(path.join(import.meta.dirname, '../../examples/auction'));

/** Hands a message to its listeners at once; never pauses, since no benchmark sends too much for one turn. */
class BenchBus {
  readonly listeners = new Map<string, Listener>();

  pause(): void {}

  resume(): void {}

  /** No message is missed on this bus. */
  onGap(): void {}

  subscribe(_topic: string, channel: string, listener: Listener): Subscription {
    this.listeners.set(channel, listener);
    return { ready: Promise.resolve(), leave: () => this.listeners.delete(channel) };
  }
}

export interface HubWithSubscribers {
  /** The listeners, in the order in which the subscribers have asked for their channels. */
  readonly channels: ReadonlyMap<string, Listener>;
  /** The connection of each subscriber. */
  readonly owners: readonly object[];
}

type HubOptions = ConstructorParameters<typeof Hub>[0];

/** A hub as the gateway makes it, with bounds that no benchmark reaches. */
export function benchHub(
  parts: Pick<
    HubOptions,
    | 'graph'
    | 'bus'
    | 'executor'
    | 'metrics'
    | 'log'
    | 'contexts'
    | 'channelPrefix'
    | 'trace'
    | 'tracing'
    | 'arrivals'
  >,
): Hub {
  return new Hub({
    ...parts,
    budget: new Flusher(Date.now, () => undefined),
    limiter: new FairLimiter(200),
    paths: new BoundedLabels(),
    maxWaiting: 1_000,
    timeoutMs: 60_000,
    maxChannels: 100,
    gapPolicy: 'close',
  });
}

/**
 * Makes a hub with one subscriber for each set of variables.
 *
 * @param deliver gets a result's JSON and the subscriber's number
 * @param looked.tracing undefined: no spans are recorded
 * @param looked.trace undefined: no steps are recorded
 * @param looked.arrivals undefined: arrivals of messages are not recorded
 */
export async function hubWith(
  graph: LoadedGraph,
  query: string,
  variables: readonly Readonly<Record<string, unknown>>[],
  deliver: (json: Buffer, subscriber: number) => void,
  looked: Pick<HubOptions, 'trace' | 'tracing' | 'arrivals'> = {},
): Promise<HubWithSubscribers> {
  const log = createLog('silent');
  const metrics = new Metrics();
  const bus = new BenchBus();
  const executor = new Executor({ schema: graph.schema, cacheSize: 100, log });
  const contexts = new Contexts({}, { bind: () => ({}) }, Date.now);
  const hub = benchHub({ graph, bus, executor, metrics, log, contexts, channelPrefix: '', ...looked });
  const operation = executor.prepare(query);
  if (!('document' in operation)) throw new AggregateError(operation, 'the query is at fault');
  const owners: object[] = [];
  for (const [index, asked] of variables.entries()) {
    const owner = {};
    owners.push(owner);
    const subscriber: Subscriber = {
      viewer: {},
      owner,
      wantsGaps: false,
      isBehind: false,
      deliver: ({ json }) => deliver(json, index),
      reconnect: refuse,
      end: ([error]) => {
        throw error ?? new Error('the hub has let a subscriber go');
      },
    };
    const group = hub.join(operation, asked, subscriber);
    if (!(group instanceof Group)) throw new AggregateError(group, 'the variables are at fault');
  }
  // A group goes live when its channels are joined. The bus resolves these promises within this turn.
  await new Promise((resolve) => setImmediate(resolve));
  return { channels: bus.listeners, owners };
}

/** One result for the subscribers that share it. Ids are texts that `idText` makes. */
export class SharedFrames {
  readonly #payload: SerializedResult;

  constructor(result: Result) {
    this.#payload = new SerializedResult(result);
  }

  /** Returns a separate frame for one subscriber. */
  frame(id: string): Buffer {
    const frame = Buffer.allocUnsafe(NEXT_FRAMES.length(this.#payload, id.length));
    writeId(frame, NEXT_FRAMES.write(frame, 0, this.#payload, id.length), id);
    return frame;
  }

  /** Calls `take` with each frame. Frames share one buffer as far as they are equal, so `take` must not keep them. */
  framesFor(ids: readonly string[], take: (frame: Buffer) => void): void {
    const cache = new FrameBatchCache();
    const results = [this.#payload];
    const taker = { write: (bytes: Buffer, length: number) => take(bytes.subarray(0, length)) };
    for (const id of ids) {
      const queued = { format: NEXT_FRAMES, messages: results, ids: [id], next: 0, written: () => undefined };
      cache.write(queued, taker);
    }
  }

  addTo(sendQueue: SendQueue, id: string): void {
    sendQueue.add(this.#payload, id);
  }
}

export { idText };

/** Takes the bytes for one subscriber. */
export interface Sink {
  readonly waitingBytes: number;
  /** Takes the first `length` bytes, which may change as soon as this returns. */
  take(bytes: Buffer, length: number): void;
}

/** More bytes than wait in any benchmark. */
const BUFFER_BYTES = 64 * 1024 * 1024;

/** Makes send queues that share a flusher. */
export function sendQueueMaker(): (sink: Sink) => SendQueue {
  const flusher = new Flusher(Date.now, () => undefined);
  return (sink) => new SendQueue(frameSinkTo(sink), { overflow: refuse }, flusher, BUFFER_BYTES);
}

function frameSinkTo(sink: Sink): FrameSink {
  return {
    format: NEXT_FRAMES,
    open: true,
    full: false,
    get waitingBytes() {
      return sink.waitingBytes;
    },
    onceDrained: refuse,
    write: (bytes, length) => sink.take(bytes, length),
    writePieces: refuse,
    send: refuse,
  };
}

function refuse(): never {
  throw new Error('a sink does not take what it is sent');
}
