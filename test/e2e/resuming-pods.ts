import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import { PATIENCE_MS } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { startRedis } from '../helpers/redis.ts';
import type { ResumingClient } from '../helpers/resuming-client.ts';
import { kafkaBrokers } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { createTopic } from '../helpers/topic.ts';

const KEYS = 5;
const INTERVAL_MS = 5;

export const ALL = 'subscription { item { n } }';
export const SOME = 'subscription ($id: [ID!]) { item(id: $id) { n } }';

/** Numbered events of some keys, until it is stopped. */
class Sender {
  sent = 0;
  readonly #topic: string;
  readonly #producer: Producer = kafkaClient().producer();
  readonly #changes = new EventEmitter();
  #isRunning = true;
  #done: Promise<void> = Promise.resolve();

  constructor(topic: string) {
    this.#topic = topic;
  }

  async start(t: TestContext): Promise<void> {
    t.after(() => this.stop());
    await this.#producer.connect();
    this.#done = this.#run();
  }

  /** Those that were sent up to now, with these keys. */
  numbers(keys: readonly number[]): number[] {
    return Array.from({ length: this.sent }, (_, n) => n).filter((n) => keys.includes(n % KEYS));
  }

  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    await this.#done;
    await this.#producer.disconnect();
  }

  /** Resolves when so many more have been sent. */
  async more(count: number): Promise<void> {
    const wanted = this.sent + count;
    while (this.sent < wanted)
      await once(this.#changes, 'sent', { signal: AbortSignal.timeout(PATIENCE_MS) });
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      const n = this.sent;
      const value = JSON.stringify({ id: n % KEYS, n });
      await this.#producer.send({ topic: this.#topic, messages: [{ partition: 0, value }] });
      this.sent += 1;
      this.#changes.emit('sent');
      await passes(INTERVAL_MS);
    }
  }
}

/** Two pods that consume a topic together, and a stream of its events. */
export async function startPods(t: TestContext, settings: Record<string, string> = {}) {
  const redis = await startRedis(t);
  const relay = await TcpRelay.start(t, redis.port);
  const topic = await createTopic(t);
  const schema = `
    type Subscription { item(id: [ID!]): Item @event(topic: "${topic}", key: "id", history: { size: 1000 }) }
    type Item { id: ID! n: Int! }`;
  const folder = await graphFolder(t, { 'schema.graphql': schema });
  const start = (): Promise<GatewayProcess> =>
    startGateway(t, {
      GRAPH: folder,
      KAFKA_BROKERS: kafkaBrokers(),
      KAFKA_GROUP_ID: topic,
      REDIS_URL: `redis://127.0.0.1:${relay.port}`,
      ...settings,
    });
  const pods = await Promise.all([start(), start()]);
  await Promise.all(pods.map((pod) => pod.untilReady()));
  const sender = new Sender(topic);
  await sender.start(t);
  return { pods, relay, sender };
}

/** Resolves when the clients have got all that was sent; each of them once, in order, and without a gap. */
export async function untilAllHave(
  sender: Sender,
  clients: ReadonlyMap<ResumingClient, readonly number[]>,
): Promise<void> {
  await sender.stop();
  for (const [client, keys] of clients) {
    const from = client.values('n')[0] as number;
    const due = sender.numbers(keys).filter((n) => n >= from);
    await client.until(() => client.values('n').at(-1) === due.at(-1));
    assert.deepEqual(new Set(client.greetings), new Set([true]));
    assert.equal(client.gaps, 0);
    assert.deepEqual(client.values('n'), due);
  }
}
