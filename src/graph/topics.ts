import type { Binding, Graph, Topic } from './graph.ts';

/** Topic names that Kafka allows. They can't contain `:`, which separates topic and key in a channel's name. */
const NAME = /^[\w.-]{1,249}$/;

/** How a field names its topics: by the names that they have in Kafka, and by patterns between slashes. */
const PATTERN = /^\/(.+)\/$/s;

/** The most topics that match the patterns of a graph. Each is one to consume, and a label of metrics. */
export const MAX_MATCHED = 1_000;

export const isTopicName = (text: string): boolean => NAME.test(text);

/**
 * @returns undefined for the name of a topic
 * @throws SyntaxError
 */
export function patternOf(topic: string): RegExp | undefined {
  const [, source] = PATTERN.exec(topic) ?? [];
  return source === undefined ? undefined : new RegExp(source);
}

/** Whether a topic of Kafka may be meant by both, as far as they tell: which names two patterns share is not known. */
export function overlap(one: string, other: string): boolean {
  return one === other || matches(one, other) || matches(other, one);
}

function matches(topic: string, name: string): boolean {
  return isTopicName(name) && patternOf(topic)?.test(name) === true;
}

/**
 * The name of the stream that fields with these topics show. It has neither slashes nor braces, which have a meaning in
 * names of Redis.
 *
 * @param topics each once
 */
export function streamOf(topics: readonly string[]): string {
  return topics.map(inName).toSorted().join(',');
}

function inName(topic: string): string {
  return isTopicName(topic) ? topic : `~${topic.slice(1, -1).replaceAll('{', '<').replaceAll('}', '>')}`;
}

/** The fields that show a topic of Kafka. */
export function bindingsOf(
  { topics, bindings }: Pick<Graph, 'topics' | 'bindings'>,
  name: string,
): Binding[] {
  const { streams = [] } = topicNamed(topics, name) ?? {};
  return [...bindings.values()].filter(({ topic }) => streams.some((stream) => stream.name === topic));
}

/**
 * Returns a topic of Kafka as ingest needs it: what the graph says of its name, and of patterns that the name matches. If
 * they differ in how messages are decoded, the first counts: the name, or else the pattern that the schema has first.
 *
 * @param topics of the graph
 * @returns undefined if no field shows it
 */
export function topicNamed(topics: ReadonlyMap<string, Topic>, name: string): Topic | undefined {
  if (!isTopicName(name)) return undefined;
  const named = topics.get(name);
  const matching = [...topics.values()].filter(({ pattern }) => pattern?.test(name) === true);
  const [first = named, ...others] = named === undefined ? matching : [named, ...matching];
  if (first === undefined || (first === named && others.length === 0)) return first;
  const all = [first, ...others];
  const keys = [...new Set(all.flatMap((topic) => topic.keys))];
  // With another key, or a key that is read from the event, the Kafka key does not name all channels.
  const keyed = all.filter((topic) => topic.keys.length > 0);
  const kafkaKey = keyed[0]?.kafkaKey;
  const isKafkaKey = keyed.every((topic) => topic.kafkaKey === kafkaKey);
  return {
    ...first,
    name,
    pattern: undefined,
    keys,
    kafkaKey: isKafkaKey ? kafkaKey : undefined,
    streams: [...new Map(all.flatMap(({ streams }) => streams.map((one) => [one.name, one]))).values()],
  };
}
