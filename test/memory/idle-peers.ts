import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { buildSchema, type GraphQLObjectType } from 'graphql';
import { Queries } from '../../src/context/queries.ts';
import { contextsOver } from '../../loadtest/micro/gateway-contexts.ts';
import type { Listener } from '../../src/bus/bus.ts';
import { OperationAdmission } from '../../src/executor/operation-admission.ts';
import { Executor } from '../../src/executor/executor.ts';
import type { GraphContext } from '../../src/graph/api/context.ts';
import { BoundedLabels } from '../../src/support/bounded-labels.ts';
import { Flusher } from '../../src/transports/delivery/flusher.ts';
import { Hub } from '../../src/hub/hub.ts';
import { ownBytes } from '../../src/support/byte-budget.ts';
import { FairLimiter } from '../../src/support/fair-limiter.ts';
import { lazy } from '../../src/lazy/lazy.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { systemClock } from '../../src/support/clock.ts';
import { Connections } from '../../src/transports/connections/connections.ts';
import { Subscriptions } from '../../src/transports/connections/subscriptions.ts';
import { OperationCaps } from '../../src/transports/connections/operation-caps.ts';
import { ConnectionMaxAge } from '../../src/transports/connections/max-age.ts';
import { Turns } from '../../src/support/turns.ts';
import { MessageRate } from '../../src/transports/websocket/message-rate.ts';
import { WebSocketTransport } from '../../src/transports/websocket/transport.ts';
import { Living } from '../helpers/living.ts';

const TEXT = 0x81;
const MASKED = 0x80;
const NO_MASK = Buffer.alloc(4);
const QUERY = 'subscription { see { said } }';

/** The server's end of a connection without a network: it takes all bytes, and subscribes once it is acknowledged. */
class FakePeer extends Duplex {
  override _read(): void {
    // `say` pushes when there is something to read.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    done();
    if (chunk.includes('connection_ack')) this.say({ type: 'subscribe', id: '1', payload: { query: QUERY } });
  }

  /** One masked frame, as browsers send them. */
  say(message: object): void {
    const payload = Buffer.from(JSON.stringify(message));
    assert.ok(payload.length < 126, 'longer frames have another header');
    this.push(Buffer.concat([Buffer.from([TEXT, MASKED | payload.length]), NO_MASK, payload]));
  }
}

/**
 * A pod's way from socket to hub over a graph with so many back ends and loaders, of which its resolver reads two, and
 * the viewer's id: each event is executed for each subscriber.
 */
export class Pod {
  readonly #metrics = new Metrics();
  readonly #living = new Living();
  readonly #listeners = new Set<Listener>();
  readonly #peers = new Set<FakePeer>();
  readonly #transport: WebSocketTransport;
  readonly #closeBackends: () => Promise<void>;
  #offset = 0;

  constructor(graphSize: number) {
    const names = Array.from({ length: graphSize }, (_, index) => `loader${index}`);
    const { contexts, close } = contextsOver(graphSize, {
      loaders: () => lazy(Object.fromEntries(names.map((name) => [name, () => ({ name })]))),
      viewerLoaders: () => lazy(Object.fromEntries(names.map((name) => [name, () => ({ name })]))),
    });
    this.#closeBackends = close;
    const schema = buildSchema(
      'type Query { a: Int } type Subscription { see: Seen } type Seen { said: String }',
    );
    const see = schema.getSubscriptionType()?.getFields()['see'];
    const said = (schema.getType('Seen') as GraphQLObjectType).getFields()['said'];
    assert.ok(see && said);
    see.resolve = (event: unknown) => event;
    said.resolve = (_event, _args, { viewer, backends, viewerLoaders }: GraphContext) =>
      [viewer['id'], typeof backends['backend0'], typeof viewerLoaders['loader0']].join();
    const log = createLog('silent');
    const executor = new Executor({ schema, cacheSize: 10, log });
    const flusher = new Flusher(Date.now, () => undefined);
    const limiter = new FairLimiter(100);
    const hub = new Hub({
      graph: {
        streams: new Map(),
        bindings: new Map([
          [
            'see',
            { field: 'see', topic: 't', key: undefined, keyForm: String, filter: undefined, shares: true },
          ],
        ]),
        hasResolvers: true,
      },
      bus: {
        pause: () => undefined,
        resume: () => undefined,
        onGap: () => undefined,
        subscribe: (_topic, _channel, listener) => {
          this.#listeners.add(listener);
          return { ready: Promise.resolve(), leave: () => void this.#listeners.delete(listener) };
        },
      },
      contexts,
      executor,
      budget: flusher,
      // Executions take no time: a busy machine would have some of them wait, which makes objects of another kind.
      now: () => 0,
      limiter,
      paths: new BoundedLabels(),
      metrics: this.#metrics,
      log,
      maxWaiting: 100,
      timeoutMs: 60_000,
      channelPrefix: 'sluice',
      maxChannels: 10,
      gapPolicy: 'close',
    });
    let connected = 0;
    const connections = new Connections({
      metrics: this.#metrics,
      pingSeconds: 0,
      maxAge: new ConnectionMaxAge(3_600),
      clock: systemClock,
      gapClosesPerSecond: 100,
    });
    const caps = new OperationCaps({ operationsOfConnection: 10 }, connections.pod, this.#metrics);
    const watchedHub: Pick<Hub, 'join' | 'leave'> = {
      join: (operation, variables, subscriber) => {
        const group = hub.join(operation, variables, subscriber);
        this.#living.add(group, subscriber);
        return group;
      },
      leave: (group, subscriber) => hub.leave(group, subscriber),
    };
    this.#transport = new WebSocketTransport({
      connections,
      subscriptions: new Subscriptions(watchedHub, caps),
      rate: new MessageRate(new Turns({ msPerSecond: 1_000, now: () => performance.now() }), 1_000, 1_000),
      schema,
      admission: new OperationAdmission({ executor }),
      authenticator: { viewerOf: () => Object.freeze({ id: (connected += 1) }) },
      queries: new Queries({ executor, contexts, limiter, metrics: this.#metrics, timeoutMs: 60_000 }),
      flusher,
      metrics: this.#metrics,
      log,
      maxPayloadBytes: 1_000,
      messages: ownBytes(1_000_000),
      bufferBytes: 1_000_000,
      compressionMinBytes: 0,
      initTimeoutMs: 0,
    });
  }

  /** Connects and subscribes clients; resolves when the hub counts all of them. */
  async subscribe(count: number): Promise<void> {
    const wanted = this.#peers.size + count;
    for (let index = 0; index < count; index += 1) this.#connect();
    while ((await this.#value('subscribers')) < wanted) await setImmediate();
  }

  /** Hands one event to all subscribers; resolves when it has been delivered to each of them. */
  async send(): Promise<void> {
    this.#offset += 1;
    const message = { v: 1, t: 't', p: 0, o: this.#offset, ts: 0, in: 0, key: null, event: { n: 1 } };
    const wanted = (await this.#value('deliveries')) + this.#peers.size;
    for (const listener of this.#listeners) listener(JSON.stringify(message));
    // The send queues are flushed at the end of the turn.
    await setImmediate();
    assert.equal(await this.#value('deliveries'), wanted);
  }

  /** Ends all connections without a close frame; resolves when the transport counts none. */
  async disconnect(): Promise<void> {
    for (const peer of this.#peers) peer.destroy();
    this.#peers.clear();
    while ((await this.#value('connections')) > 0) await setImmediate();
  }

  /** How many of all sockets, subscribers and groups that were ever made are still in memory. */
  alive(): Promise<number> {
    return this.#living.count();
  }

  async close(): Promise<void> {
    await this.disconnect();
    await this.#closeBackends();
  }

  #connect(): void {
    const peer = new FakePeer();
    this.#peers.add(peer);
    this.#living.add(peer);
    const request = new IncomingMessage(new Socket());
    request.method = 'GET';
    request.headers = {
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'graphql-transport-ws',
    };
    this.#transport.accept(request, peer, Buffer.alloc(0));
    peer.say({ type: 'connection_init' });
  }

  async #value(metric: 'subscribers' | 'deliveries' | 'connections'): Promise<number> {
    return (await this.#metrics[metric].get()).values[0]?.value ?? 0;
  }
}
