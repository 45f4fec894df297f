import { brokers, choice, integer, optionalText, text, type Setting } from '../types.ts';

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
