import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { Partitioners } from 'kafkajs';
import { Authority } from '../helpers/authority.ts';
import { eventually } from '../helpers/eventually.ts';
import { freePort } from '../helpers/free-port.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { startOwnKafka, type OwnKafka } from '../helpers/own-kafka.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';

type Settings = Readonly<Record<string, string>>;

/** Topics of the broker: events, and what can't be decoded of them. */
const TOPIC = 'items';
const DEAD_LETTERS = 'dead';

/** A broker that is reached over TLS, and gateways that know its authority. */
export class GuardedKafka {
  readonly kafka: OwnKafka;
  /** That the broker's certificate is of. */
  readonly authority: Authority;
  /** Of a gateway, all but who it is to the broker. */
  readonly settings: Settings;
  readonly #t: TestContext;

  private constructor(t: TestContext, kafka: OwnKafka, authority: Authority, settings: Settings) {
    this.#t = t;
    this.kafka = kafka;
    this.authority = authority;
    this.settings = settings;
  }

  /**
   * @param protocol of the listener beside the plain one
   * @param settings of the broker, given the files of its authority
   * @param java options of its virtual machine
   */
  static async start(
    t: TestContext,
    protocol: 'SSL' | 'SASL_SSL',
    settings: (authority: Authority, folder: string) => Promise<Settings>,
    java: readonly string[] = [],
  ): Promise<GuardedKafka> {
    const [authority, folder, port] = [await Authority.create(t), await temporaryFolder(t), await freePort()];
    const { keyFile, certificateFile } = await authority.issue('broker');
    const keyStore = path.join(folder, 'keystore.pem');
    await writeFile(keyStore, (await readFile(keyFile, 'utf8')) + (await readFile(certificateFile, 'utf8')));
    const kafka = await startOwnKafka(
      t,
      folder,
      {
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.location': keyStore,
        ...(await settings(authority, folder)),
      },
      [{ protocol, port }],
      java,
    );
    const admin = kafka.client.admin();
    await admin.connect();
    const topics = [TOPIC, DEAD_LETTERS].map((topic) => ({ topic }));
    await createTopics(admin, topics);
    await admin.disconnect();
    return new GuardedKafka(t, kafka, authority, {
      GRAPH: await graphFolder(t, { 'schema.graphql': itemSchema(TOPIC) }),
      KAFKA_BROKERS: `localhost:${port}`,
      KAFKA_TLS: 'true',
      KAFKA_CA: authority.certificateFile,
      DEAD_LETTER_TOPIC: DEAD_LETTERS,
    });
  }

  /** @param settings who it is to the broker */
  gateway(settings: Settings): Promise<GatewayProcess> {
    return startGateway(this.#t, { ...this.settings, ...settings });
  }

  async subscriber(gateway: GatewayProcess): Promise<Received<{ item: { n: number } }>> {
    const client = graphqlClient(this.#t, gateway.graphqlUrl);
    const received = new Received<{ item: { n: number } }>(client, 'subscription { item { n } }');
    await gateway.untilMetric('sluice_subscribers', 1);
    return received;
  }

  /** Through the plain listener. */
  async send(...values: readonly string[]): Promise<void> {
    const producer = this.kafka.client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    await producer.send({ topic: TOPIC, messages: values.map((value) => ({ value })) });
    await producer.disconnect();
  }

  /** Waits until so many dead letters have been written. */
  async untilLetters(count: number): Promise<void> {
    const admin = this.kafka.client.admin();
    await admin.connect();
    try {
      await eventually(async () => {
        const offsets = await admin.fetchTopicOffsets(DEAD_LETTERS);
        assert.equal(
          offsets.reduce((sum, { high }) => sum + Number(high), 0),
          count,
        );
      });
    } finally {
      await admin.disconnect();
    }
  }
}

/** What the gateway has logged. */
export const loggedBy = ({ lines, stderr }: GatewayProcess): string =>
  [stderr, ...lines.map((line) => JSON.stringify(line))].join('\n');
