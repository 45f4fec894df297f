import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import type { Producer } from 'kafkajs';
import { startReady, type GatewayProcess } from '../../helpers/gateway.ts';
import { graphFolder } from '../../helpers/graph-folder.ts';
import { kafkaProducer } from '../../helpers/kafka-client.ts';
import { serveHttp } from '../../helpers/local-server.ts';
import { connectAndInit } from '../../helpers/raw-socket.ts';
import { podSettings } from '../../helpers/services.ts';
import { createTopic } from '../../helpers/topic.ts';
import { numbersOf } from '../arrange.ts';

export type Answer = (response: ServerResponse) => void;

interface Topics {
  /** The honest subscriber's own: what stands before an event in its partition is before it for everybody. */
  readonly honest: string;
  readonly item: string;
  /** With history. */
  readonly kept: string;
}

/** The pod that is attacked, and what attacks need. */
export interface Pod {
  readonly gateway: GatewayProcess;
  readonly producer: Producer;
  readonly topics: Topics;
  readonly backEnd: { answer: Answer };
  /** Sends an event to the honest subscriber. @returns ms from the producer to the subscriber */
  readonly beat: () => Promise<number>;
  /** Resolves once the pod has consumed what was sent to a topic so far. */
  readonly untilConsumed: (topic: string) => Promise<void>;
}

/** The heap limit that `deploy/` ships. */
const HEAP_MB = 512;

const schemaOf = ({ honest, item, kept }: Topics): string => `
  type Query { answer: String }
  type Subscription {
    honest(id: [ID!]): Item @event(topic: "${honest}", key: "id")
    item(id: [ID!]): Item @event(topic: "${item}", key: "id")
    kept(id: [ID!]): Item @event(topic: "${kept}", key: "id", history: {}, replay: 256)
  }
  type Item { id: ID! n: Int text: String }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    backends: { mad: { url: process.env.MAD_URL } },
    resolvers: { Query: { answer: async (_, __, ctx) => String(await ctx.backends.mad.get('/')).slice(0, 10) } },
  });
`;

/** A pod with default settings but those given, and a subscriber to whom events must come. */
export async function startPod(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<Pod> {
  const topics = { honest: await createTopic(t), item: await createTopic(t), kept: await createTopic(t) };
  const backEnd: Pod['backEnd'] = { answer: (response) => void response.end('null') };
  const gateway = await startReady(t, {
    ...podSettings(topics.honest),
    GRAPH: await graphFolder(t, { 'schema.graphql': schemaOf(topics), 'graph.ts': GRAPH }),
    MAD_URL: await serveHttp(t, (_, response) => backEnd.answer(response)),
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
    ...settings,
  });
  const producer = await kafkaProducer(t);
  const honest = await connectAndInit(t, gateway.graphqlUrl);
  honest.subscribe('honest', 'subscription { honest(id: ["1"]) { n } }');
  honest.subscribe('item', 'subscription { item(id: ["marker"]) { n } }');
  honest.subscribe('kept', 'subscription { kept(id: ["marker"]) { n } }');
  await gateway.untilMetric('sluice_subscribers', 3);

  let sent = 0;
  const untilNext = async (topic: string, id: string): Promise<void> => {
    const n = (sent += 1);
    await producer.send({ topic, messages: [{ partition: 0, value: JSON.stringify({ id, n }) }] });
    await honest.until(() => numbersOf(honest).includes(n));
  };
  return {
    gateway,
    producer,
    topics,
    backEnd,
    beat: async () => {
      const began = performance.now();
      await untilNext(topics.honest, '1');
      return performance.now() - began;
    },
    untilConsumed: (topic) => untilNext(topic, 'marker'),
  };
}
