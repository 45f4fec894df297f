/** @returns none if it is not a list of topics: a client of Redis that publishes something else must not end the process */
export function topicsIn(payload: Buffer | string): readonly string[] {
  try {
    const topics: unknown = JSON.parse(payload.toString());
    return Array.isArray(topics) ? topics.filter((topic) => typeof topic === 'string') : [];
  } catch {
    return [];
  }
}
