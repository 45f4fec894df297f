/** The channel that carries every event of a topic. */
export function topicChannel(prefix: string, topic: string): string {
  return prefix + topic;
}

/**
 * The channel that carries the events of a topic whose field `key` has this value (or holds it, if it is a list).
 *
 * @param key a name of GraphQL, or some with dots between them: it needs no escaping
 */
export function keyChannel(prefix: string, topic: string, key: string, value: unknown): string {
  return `${prefix}${topic}:${key}=${encodeURIComponent(String(value))}`;
}
