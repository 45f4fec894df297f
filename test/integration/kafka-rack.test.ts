import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test, { type TestContext } from 'node:test';
import { Partitioners } from 'kafkajs';
import { eventually } from '../helpers/eventually.ts';
import { freePort } from '../helpers/free-port.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { disconnectAfter } from '../helpers/kafka-client.ts';
import { upTo } from '../helpers/numbers.ts';
import { startBroker, type OwnKafka } from '../helpers/own-kafka.ts';
import { needs } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';

const TOPIC = 'items';
const EVENTS = 10;
const EVENT_BYTES = 100_000;

test(
  'a pod with a rack fetches from the replica there, one without from the leader; brokers know both by their client ids',
  needs('kafka-jars'),
  async (t) => {
    const { leader, follower } = await startTwoBrokers(t);
    const settings = {
      GRAPH: await graphFolder(t, { 'schema.graphql': itemSchema(TOPIC) }),
      KAFKA_BROKERS: leader.brokers,
    };
    const admin = leader.client.admin();
    await admin.connect();
    disconnectAfter(t, admin);
    for (const [groupId, rack, fromFollower] of [
      ['near', 'b', true],
      ['anywhere', undefined, false],
    ] as const) {
      const gateway = await startGateway(t, {
        ...settings,
        KAFKA_GROUP_ID: groupId,
        KAFKA_CLIENT_ID: `${groupId}-gateway`,
        ...(rack !== undefined && { KAFKA_RACK: rack }),
      });
      await gateway.untilReady();
      const received = new Received(graphqlClient(t, gateway.graphqlUrl), 'subscription { item { n } }');
      await gateway.untilMetric('sluice_subscribers', 1);
      const { groups } = await admin.listGroups();
      const ids = groups.map((group) => group.groupId).filter((id) => id.startsWith(groupId));
      const described = await admin.describeGroups(ids);
      assert.deepEqual(
        described.groups.flatMap(({ members }) => members.map(({ clientId }) => clientId)),
        [`${groupId}-gateway`],
      );
      const before = follower.carriedBytes;
      await send(leader);
      await received.until(EVENTS);
      const carried = follower.carriedBytes - before;
      assert.equal(carried > EVENTS * EVENT_BYTES, fromFollower, `the follower has sent ${carried} bytes`);
      await gateway.stop();
    }
  },
);

/** A leader in rack a, and in rack b a follower that is reached by a relay. */
async function startTwoBrokers(t: TestContext): Promise<{
  leader: Pick<OwnKafka, 'brokers' | 'client'>;
  follower: TcpRelay;
}> {
  const [controller, first, second] = [await freePort(), await freePort(), await freePort()];
  const relay = await TcpRelay.start(t, second);
  const common = (id: number, port: number, advertised: number, folder: string) => ({
    'node.id': id,
    'controller.quorum.voters': `1@localhost:${controller}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'PLAINTEXT',
    'advertised.listeners': `PLAINTEXT://localhost:${advertised}`,
    listeners: `PLAINTEXT://localhost:${port}${id === 1 ? `,CONTROLLER://localhost:${controller}` : ''}`,
    'log.dirs': `${folder}/data`,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    'replica.selector.class': 'org.apache.kafka.common.replica.RackAwareReplicaSelector',
  });
  const folders = [await temporaryFolder(t), await temporaryFolder(t)] as const;
  const leader = await startBroker(
    t,
    folders[0],
    { ...common(1, first, first, folders[0]), 'process.roles': 'broker,controller', 'broker.rack': 'a' },
    `localhost:${first}`,
  );
  await startBroker(
    t,
    folders[1],
    { ...common(2, second, relay.port, folders[1]), 'process.roles': 'broker', 'broker.rack': 'b' },
    `localhost:${second}`,
  );
  const admin = leader.client.admin();
  await admin.connect();
  disconnectAfter(t, admin);
  const replicaAssignment = [{ partition: 0, replicas: [1, 2] }];
  await createTopics(admin, [{ topic: TOPIC, replicaAssignment }]);
  await eventually(async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [TOPIC] });
    assert.deepEqual(
      topics[0]?.partitions.map(({ leader: id, isr }) => [id, isr.toSorted()]),
      [[1, [1, 2]]],
    );
  });
  return { leader, follower: relay };
}

async function send({ client }: Pick<OwnKafka, 'client'>): Promise<void> {
  const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const pad = randomBytes(EVENT_BYTES / 2).toString('hex');
  const messages = upTo(EVENTS).map((n) => ({ value: JSON.stringify({ id: 1, n, pad }) }));
  await producer.send({ topic: TOPIC, messages });
  await producer.disconnect();
}
