import {
  brokers,
  choice,
  integer,
  optionalText,
  text,
  type Setting,
  flag,
  optionalChoice,
  optionalRegion,
  optionalUrl,
  texts,
} from '../types.ts';

/** Settings for TLS and authentication at brokers. Files are read again at each connection. */
export const KAFKA_ACCESS_SETTINGS = {
  KAFKA_TLS: flag({ default: false, help: 'Connect to Kafka over TLS.' }),
  KAFKA_CA: optionalText({
    default: undefined,
    help: "File with the certificate authority that signed the brokers' certificates (PEM).",
  }),
  KAFKA_CERT: optionalText({
    default: undefined,
    help: 'File with the certificate that the gateway shows to brokers, then those of authorities in between (PEM). This file, as every other one for Kafka, is read again at [each connection](../operations/kafka-security.md).',
  }),
  KAFKA_KEY: optionalText({ default: undefined, help: 'File with the key of `KAFKA_CERT` (PEM).' }),
  KAFKA_KEY_PASSPHRASE: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Passphrase of `KAFKA_KEY`, if it is encrypted.',
  }),
  KAFKA_KEY_PASSPHRASE_FILE: optionalText({
    default: undefined,
    help: 'File with that passphrase, in place of `KAFKA_KEY_PASSPHRASE`.',
  }),
  KAFKA_SASL_MECHANISM: optionalChoice(
    ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer', 'aws-msk-iam'],
    {
      default: undefined,
      help: 'SASL mechanism of the connection to Kafka. With `aws-msk-iam`, tokens for `oauthbearer` are signed with AWS credentials.',
    },
  ),
  KAFKA_SASL_USERNAME: optionalText({ default: undefined, help: 'User name for Kafka.' }),
  KAFKA_SASL_USERNAME_FILE: optionalText({
    default: undefined,
    help: 'File with that user name, in place of `KAFKA_SASL_USERNAME`.',
  }),
  KAFKA_SASL_PASSWORD: optionalText({ default: undefined, secret: 'all', help: 'Password for Kafka.' }),
  KAFKA_SASL_PASSWORD_FILE: optionalText({
    default: undefined,
    help: 'File with that password, in place of `KAFKA_SASL_PASSWORD`.',
  }),
  KAFKA_OAUTH_TOKEN_FILE: optionalText({
    default: undefined,
    help: 'File with the token for `oauthbearer`, which something else renews.',
  }),
  KAFKA_OAUTH_TOKEN_URL: optionalUrl(['https:', 'http:'], {
    default: undefined,
    secret: 'password',
    help: 'Token endpoint that tokens for `oauthbearer` come from, by client credentials, in place of `KAFKA_OAUTH_TOKEN_FILE`.',
  }),
  KAFKA_OAUTH_CLIENT_ID: optionalText({
    default: undefined,
    help: 'Client id at `KAFKA_OAUTH_TOKEN_URL`.',
  }),
  KAFKA_OAUTH_CLIENT_SECRET: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Secret of that client.',
  }),
  KAFKA_OAUTH_CLIENT_SECRET_FILE: optionalText({
    default: undefined,
    help: 'File with that secret, in place of `KAFKA_OAUTH_CLIENT_SECRET`.',
  }),
  KAFKA_OAUTH_CLIENT_AUTH: choice(['basic', 'post'], {
    default: 'basic',
    help: 'How the client id and its secret are sent: in the header `Authorization`, or in the body.',
  }),
  KAFKA_OAUTH_SCOPE: optionalText({ default: undefined, help: 'Scope that is asked for.' }),
  KAFKA_OAUTH_AUDIENCE: optionalText({
    default: undefined,
    help: 'Audience that is asked for, where the endpoint wants one.',
  }),
  KAFKA_OAUTH_EXTENSIONS: texts(
    'name=value, several separated by commas; names of letters',
    // RFC 7628 allows these names, and reserves `auth`.
    (item) => /^(?!auth=)[a-zA-Z]+=[\x20-\x7e\t\r\n]+$/.test(item),
    {
      default: [],
      help: 'SASL extensions that go with the token, such as `logicalCluster=lkc-…,identityPoolId=pool-…` of Confluent Cloud.',
    },
  ),
  KAFKA_AWS_REGION: optionalRegion({
    default: undefined,
    help: 'Region of the Amazon MSK cluster, for `aws-msk-iam`.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

/** Settings for a developer’s machine without Kafka and Redis. */
export const LOCAL_SETTINGS = {
  EVENTS_FROM_ANYWHERE: flag({
    default: false,
    help: 'Without Kafka and Redis: accept `POST /events/<topic>` from any peer, not from this machine only.',
  }),
  SIMULATOR: flag({
    default: true,
    help: 'With the bundled graph and neither Kafka nor Redis: simulate events.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

/** Settings for Kafka, where events come from. */
export const KAFKA_SETTINGS = {
  KAFKA_BROKERS: brokers({
    default: [],
    help: 'Kafka brokers to connect to first. Not set: this process consumes nothing.',
  }),
  KAFKA_DRIVER: choice(['kafkajs', 'platformatic'], {
    default: 'kafkajs',
    help: 'Client that [connects to Kafka](../operations/kafka-clients.md). Pods with either are members of one group.',
  }),
  KAFKA_GROUP_PROTOCOL: choice(['classic', 'consumer'], {
    default: 'classic',
    help: 'How partitions are [shared out](../operations/kafka-clients.md): `classic` stops all pods meanwhile; `consumer` (KIP-848, Kafka 4.0 or later) stops only those whose partitions change, and needs `KAFKA_DRIVER=platformatic`.',
  }),
  KAFKA_GROUP_ID: text({
    default: 'sluice',
    help: 'Consumer group that all pods join. Without Redis each process has a group of its own, whose name begins with this.',
  }),
  KAFKA_START: choice(['committed', 'latest'], {
    default: 'committed',
    help: 'Where the first pod of a group begins to consume: at the committed offsets, or at the end of each partition, which skips messages sent while no pod ran.',
  }),
  KAFKA_BAD_BATCH: choice(['stop', 'skip'], {
    default: 'stop',
    help: 'What a record batch that can’t be decoded (damaged, or of an unknown codec) does: stop its partition until it can be decoded, or be skipped. Other partitions go on. One that unpacks to more than 64 MiB is skipped in either case.',
  }),
  KAFKA_SESSION_TIMEOUT_MS: integer(6_000, 300_000, {
    default: 10_000,
    help: 'A pod that Kafka has not heard from for so long loses its partitions to other pods. So when a pod is killed, its partitions stand still for this time. A heap snapshot must not take longer.',
  }),
  KAFKA_INSTANCE_ID: optionalText({
    default: undefined,
    help: 'Name that this pod alone has in the group, and keeps: a pod that is back within `KAFKA_SESSION_TIMEOUT_MS` [keeps its partitions](../operations/kafka-clients.md). With `KAFKA_DRIVER=platformatic` only.',
  }),
  KAFKA_CLIENT_ID: text({
    default: 'sluice',
    help: "Name of the gateway in brokers' logs, quotas and metrics.",
  }),
  KAFKA_RACK: optionalText({
    default: undefined,
    help: 'Rack or availability zone of the pod, as `broker.rack` names it: events are fetched from a replica there, if brokers have `replica.selector.class`.',
  }),
  DEAD_LETTER_TOPIC: optionalText({
    default: undefined,
    help: 'Kafka topic for messages that could not be decoded, with the reason in headers.',
  }),
  EVENT_MAX_AGE_SECONDS: integer(0, 31_536_000, {
    default: 0,
    help: 'Skip and count events that are older than this by their Kafka timestamps. 0: events of any age are published.',
  }),
  MAX_EVENT_FANOUT_BYTES: integer(65_536, 1_073_741_824, {
    default: 16_777_216,
    help: 'Most bytes of an event times its channels that have subscribers: the default lets 1 MB go to 16 keys, or 16 KB to 1,000. An event past it is a dead letter, because Redis closes connections for which it has to hold 32 MB.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
