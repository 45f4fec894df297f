import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import kafkajs, { Kafka, logLevel, type Admin, type Producer } from 'kafkajs';
import type { KafkaSourceState } from '../../src/ingest/kafka/state.ts';
import { Authority } from './authority.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { startGateway, type GatewayProcess } from './gateway.ts';
import { itemGraph } from './graph-folder.ts';
import { numbersOf, subscribed } from './graphql-client.ts';
import { kafkaAdmin, kafkaProducer } from './kafka-client.ts';
import { startOwnKafka, type Listener, type OwnKafka } from './own-kafka.ts';
import type { Scope } from './scope.ts';
import { TcpRelay } from './tcp-relay.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { TokenIssuer } from './token-issuer.ts';
import { createTopics } from './topic.ts';

type Settings = Readonly<Record<string, string>>;

/** The way in which clients authenticate at a listener: PLAIN and SCRAM-SHA-512, OAUTHBEARER, or a certificate. */
type Way = 'password' | 'token' | 'certificate';

/** The broker's users with their passwords, by mechanism. */
export const USERS = {
  plain: { sluice: 'open sesame' },
  scram: { sluice: 'open-sesame', 'sluice-2': 'open-barley' },
} as const;

const SECURITY = 'org.apache.kafka.common.security';
const TRUST_STORE = 'listener.name.certificate.ssl.truststore.location';

/** A broker of the test's own. Clients reach it over TLS, on a listener for each way; the test needs no TLS. */
export class GuardedKafka {
  readonly kafka: OwnKafka;
  /** Has signed the broker's certificate. */
  readonly authority: Authority;
  /** The broker takes this issuer's tokens for `kafka`, and those of issuers that share its keys. */
  readonly issuer: TokenIssuer;
  readonly #admin: Admin;
  readonly #producer: Producer;
  readonly #relays: Readonly<Record<Way, TcpRelay>>;
  readonly #folder: string;
  /** The authorities whose certificates clients may show, each with its PEM. */
  readonly #trusted = new Map<Authority, string>();
  #changes = Promise.resolve();

  private constructor(
    kafka: OwnKafka,
    [admin, producer]: readonly [Admin, Producer],
    [authority, issuer, folder]: readonly [Authority, TokenIssuer, string],
    relays: Readonly<Record<Way, TcpRelay>>,
  ) {
    this.kafka = kafka;
    this.authority = authority;
    this.issuer = issuer;
    this.#admin = admin;
    this.#producer = producer;
    this.#relays = relays;
    this.#folder = folder;
  }

  /** @param settings of the broker, besides those of its listeners */
  static async start(scope: Scope, settings: Readonly<Record<string, number>> = {}): Promise<GuardedKafka> {
    const folder = await temporaryFolder(scope);
    const [authority, issuer] = [await Authority.create(scope), await TokenIssuer.start(scope)];
    const { keyFile, certificateFile } = await authority.issue('broker');
    const keyStore = path.join(folder, 'keystore.pem');
    await writeFile(keyStore, (await readFile(keyFile, 'utf8')) + (await readFile(certificateFile, 'utf8')));
    const relayed = async (name: Way, protocol: Listener['protocol']) => {
      const port = await freePort();
      const relay = await TcpRelay.start(scope, port);
      return { relay, listener: { name: name.toUpperCase(), protocol, port, advertised: relay.port } };
    };
    const password = await relayed('password', 'SASL_SSL');
    const token = await relayed('token', 'SASL_SSL');
    const certificate = await relayed('certificate', 'SSL');
    const kafka = await startOwnKafka(
      scope,
      folder,
      {
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.location': keyStore,
        ...passwordListener,
        ...tokenListener(issuer),
        'listener.name.certificate.ssl.client.auth': 'required',
        'listener.name.certificate.ssl.truststore.type': 'PEM',
        [TRUST_STORE]: authority.certificateFile,
        ...settings,
      },
      {
        listeners: [password.listener, token.listener, certificate.listener],
        java: [`-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${issuer.keysUrl}`],
        format: Object.entries(USERS.scram).flatMap(([name, secret]) => [
          '--add-scram',
          `SCRAM-SHA-512=[name=${name},password=${secret}]`,
        ]),
      },
    );
    const relays = { password: password.relay, token: token.relay, certificate: certificate.relay };
    const clients = [
      await kafkaAdmin(scope, kafka.client),
      await kafkaProducer(scope, kafka.client),
    ] as const;
    return new GuardedKafka(kafka, clients, [authority, issuer, folder], relays);
  }

  brokers(way: Way): string {
    return `localhost:${this.#relays[way].port}`;
  }

  /** Ends all connections of clients that use this way: they connect and authenticate again. */
  cut(way: Way): void {
    this.#relays[way].cut();
  }

  /** Resolves when the broker admits clients with certificates of the one authority, and not those of the other. */
  async trust(authority: Authority, inPlaceOf?: Authority): Promise<void> {
    this.#changes = this.#changes.then(() => this.#trust(authority, inPlaceOf));
    await this.#changes;
  }

  /** Makes topics for a test, and gateways that consume them. */
  async access(t: TestContext, way: Way, client: Settings): Promise<KafkaAccess> {
    const [topic, deadLetters] = [`items-${randomUUID()}`, `dead-${randomUUID()}`];
    await createTopics(this.#admin, [{ topic }, { topic: deadLetters }]);
    const settings = {
      ...client,
      GRAPH: await itemGraph(t, topic),
      KAFKA_BROKERS: this.brokers(way),
      KAFKA_TLS: 'true',
      KAFKA_CA: this.authority.certificateFile,
      DEAD_LETTER_TOPIC: deadLetters,
    };
    return {
      settings,
      gateway: (more) => startGateway(t, { ...settings, ...more }),
      delivery: async (gateway) => {
        await gateway.untilReady();
        const received = await subscribed(t, gateway);
        return async (n, ...others) => {
          const values = [`{"id":1,"n":${n}}`, ...others];
          await this.#producer.send({ topic, messages: values.map((value) => ({ value })) });
          // A gateway whose connection was cut may consume an event again.
          while (!numbersOf(received).includes(n)) await received.until(received.results.length + 1);
          return numbersOf(received);
        };
      },
      untilLetters: (count) =>
        eventually(async () => {
          const [offsets] = await this.#admin.fetchTopicOffsets(deadLetters);
          const written = Number(offsets?.high);
          assert.ok(written >= count, `expected ${count} dead letters, got ${written}`);
        }),
      untilConsumed: (gateway) =>
        eventually(async () => {
          const [offsets] = await this.#admin.fetchTopicOffsets(topic);
          const { kafka } = await gateway.debug<{ kafka: KafkaSourceState }>('ingest');
          const own = kafka.partitions.find((one) => one.topic === topic);
          assert.equal(own?.position, Number(offsets?.high));
        }),
    };
  }

  async #trust(authority: Authority, inPlaceOf: Authority | undefined): Promise<void> {
    this.#trusted.set(authority, await readFile(authority.certificateFile, 'utf8'));
    if (inPlaceOf !== undefined) this.#trusted.delete(inPlaceOf);
    const value = path.join(this.#folder, `trusted-${randomUUID()}.pem`);
    await writeFile(value, [...this.#trusted.values()].join(''));
    const configEntries = [{ name: TRUST_STORE, value }];
    const broker = { type: kafkajs.ConfigResourceTypes.BROKER, name: '1', configEntries };
    await this.#admin.alterConfigs({ validateOnly: false, resources: [broker] });
    const { keyFile, certificateFile } = await authority.issue('probe');
    const [key, cert, ca] = await Promise.all(
      [keyFile, certificateFile, this.authority.certificateFile].map((file) => readFile(file, 'utf8')),
    );
    const probe = new Kafka({
      brokers: [this.brokers('certificate')],
      ssl: { ca: ca ?? '', cert: cert ?? '', key: key ?? '' },
      logLevel: logLevel.NOTHING,
      retry: { retries: 0 },
    }).admin();
    await eventually(() => probe.connect());
    await probe.disconnect();
  }
}

export interface KafkaAccess {
  /** The gateway's settings, except for those by which it authenticates. */
  readonly settings: Settings;
  /** @param settings by which the gateway authenticates */
  gateway(settings: Settings): Promise<GatewayProcess>;
  /**
   * Subscribes when the gateway is ready.
   *
   * @returns sends an event and further values past the three ways, waits for the event, and returns all numbers so far
   */
  delivery(gateway: GatewayProcess): Promise<(n: number, ...others: readonly string[]) => Promise<number[]>>;
  /** Waits for `count` dead letters: a gateway whose connection was cut may write a letter again. */
  untilLetters(count: number): Promise<void>;
  /** Waits until the gateway has consumed all that has been sent, and so will not consume it again. */
  untilConsumed(gateway: GatewayProcess): Promise<void>;
}

const passwordListener: Settings = {
  'listener.name.password.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
  'listener.name.password.plain.sasl.jaas.config':
    [
      `${SECURITY}.plain.PlainLoginModule required`,
      ...Object.entries(USERS.plain).map(([name, secret]) => `user_${name}="${secret}"`),
    ].join(' ') + ';',
  'listener.name.password.scram-sha-512.sasl.jaas.config': `${SECURITY}.scram.ScramLoginModule required;`,
};

/** The broker ends each connection to this listener whose token has expired, unless it has authenticated again. */
const tokenListener = ({ keysUrl }: TokenIssuer): Settings => ({
  'listener.name.token.sasl.enabled.mechanisms': 'OAUTHBEARER',
  'listener.name.token.oauthbearer.connections.max.reauth.ms': '3600000',
  'listener.name.token.oauthbearer.sasl.jaas.config': `${SECURITY}.oauthbearer.OAuthBearerLoginModule required;`,
  'listener.name.token.oauthbearer.sasl.server.callback.handler.class': `${SECURITY}.oauthbearer.OAuthBearerValidatorCallbackHandler`,
  'sasl.oauthbearer.expected.audience': 'kafka',
  'sasl.oauthbearer.jwks.endpoint.url': keysUrl,
});
