/** The channel that carries every event of a topic. */
export function topicChannel(prefix: string, topic: string): string {
  return prefix + topic;
}

/**
 * The channel that carries the events of a topic whose field `key` has this value (or holds it, if it is a list).
 *
 * @param key a GraphQL name, or several with dots between them, so that it needs no escaping
 */
export function keyChannel(prefix: string, topic: string, key: string, value: unknown): string {
  return `${prefix}${topic}:${key}=${encodeURIComponent(String(value))}`;
}

/**
 * Returns the values by which an event was routed, as texts.
 *
 * @param channels the channel of the whole topic, then the channels of keys
 * @returns for each key its value; a list if there are several values, null if there is none
 */
export function valuesOfKeys(
  [whole = '', ...others]: readonly string[],
  keys: readonly string[],
): Record<string, string | null | string[]> {
  const valuesOf = (key: string): string | null | string[] => {
    const prefix = `${whole}:${key}=`;
    const values = others
      .filter((channel) => channel.startsWith(prefix))
      .map((channel) => decodeURIComponent(channel.slice(prefix.length)));
    return values.length > 1 ? values : (values[0] ?? null);
  };
  return Object.fromEntries(keys.map((key) => [key, valuesOf(key)]));
}
