import assert from 'node:assert/strict';
import test from 'node:test';
import { valueOf as value, type Command, type Reply } from '../../../src/bus/redis/connection.ts';
import { sharded } from '../../../src/bus/redis/cluster/sharded.ts';
import { BusNames } from '../../../src/bus/redis/names.ts';
import { TopicHistory } from '../../../src/bus/redis/topic-history.ts';
import { deletionOf } from '../../../src/events/deletion.ts';
import type { Publication } from '../../../src/events/publisher.ts';
import { createLog } from '../../../src/log.ts';
import { simulatedClock } from '../time/simulated-clock.ts';
import { Random } from '../../helpers/random.ts';
import { VirtualTime } from '../time/virtual-time.ts';
import { SimulatedRedis } from './server.ts';

const TOPIC = 'orders';

/** A node of a cluster, with its history of a topic. */
function startNode() {
  const time = new VirtualTime();
  const node = new SimulatedRedis('node', time);
  const heard: string[] = [];
  const listener = { deliver: (channel: string, payload: string) => heard.push(`${channel} ${payload}`) };
  const history = new TopicHistory({
    topic: TOPIC,
    settings: { size: 10, ttlMs: 120_000, keepsAll: true },
    connection: { send: async (commands) => commands.map((command) => node.run(sharded(command))) },
    names: new BusNames(''),
    stands: async () => undefined,
    heard: () => undefined,
    wasRead: () => undefined,
    clock: simulatedClock(time, Random.of(1, 'clock')),
    log: createLog('silent'),
  });
  const script = (batch: readonly Publication[]): Command =>
    sharded(history.publishes(batch, 'version', history.epoch));
  for (const channel of ['a', 'b']) node.channels.set(channel, new Set([listener as never]));
  return {
    node,
    heard,
    /** @returns the reason if the node refuses */
    publish: (...batch: Publication[]): string | undefined => {
      for (let isPublished = false; !isPublished;) {
        const reply = node.run(script(batch));
        if ('error' in reply) return reply.error.message;
        isPublished = history.published(batch, reply.value);
      }
      return undefined;
    },
    script,
    kept: async () => {
      const { channels } = await history.read(0, ['a', 'b'], { maxBytes: 10_000 });
      return channels.map(({ messages }) => messages.length);
    },
  };
}

const valueOf = (reply: Reply) => value(reply) as readonly unknown[];

const sourceOf = (offset: number) => ({ topicId: 'id', partition: 0, offset, epoch: 0 });

/** An event on two channels. */
const event = (offset: number): Publication[] =>
  ['a', 'b'].map((channel) => ({ channel, payload: `{"o":${offset}}`, source: sourceOf(offset) }));

/** The state of a slot that moves: keys that the node lacks are on the other node. */
const moving = ({ data }: SimulatedRedis, away: (key: string) => boolean = () => false) => ({
  reply: () => undefined,
  redirect: (keys: readonly string[]) =>
    keys.some((key) => away(key) || !data.has(key)) ? 'ASK 1 other:6379' : undefined,
});

test('while a channel’s list is on the node that its slot goes to, nothing of an event is published', async () => {
  const { node, heard, publish, kept } = startNode();
  assert.equal(publish(...event(0)), undefined);
  assert.equal(heard.length, 2);
  node.cluster = moving(node, (key) => key.endsWith(':b'));
  for (let attempt = 0; attempt < 3; attempt += 1)
    assert.match(String(publish(...event(1))), /non local key/);
  assert.equal(heard.length, 2, 'nothing of what is refused is heard');
  node.cluster = undefined;
  assert.equal(publish(...event(1)), undefined);
  assert.equal(heard.length, 4);
  assert.deepEqual(await kept(), [2, 2]);
});

test('while its slot moves, a topic with a deleted key is published to on the node that still has it', async () => {
  const { node, heard, publish, kept } = startNode();
  assert.equal(publish(...event(0), deletionOf('key', sourceOf(1))), undefined);
  node.cluster = moving(node);
  assert.equal(publish(...event(2)), undefined);
  assert.equal(heard.length, 4);
  assert.deepEqual(await kept(), [2, 2]);
});

test('a script that comes late, once others have published without history, begins an epoch and publishes nothing', async () => {
  const { node, heard, publish, script, kept } = startNode();
  assert.equal(publish(...event(0)), undefined);
  const late = script(event(1));
  // Another pod has published event 1, and what came after it.
  node.run(['SET', new BusNames('').versionKey(TOPIC), 'another']);
  assert.deepEqual(valueOf(node.run(late)).slice(0, 1), [-1]);
  assert.equal(heard.length, 2);
  assert.equal(publish(...event(3)), undefined);
  assert.deepEqual(valueOf(node.run(late)).slice(0, 1), [-1], 'nor in the epoch that has begun');
  assert.deepEqual(await kept(), [1, 1]);
});
