/* Runs in the browser: reads Prometheus' text, and says what two readings of it tell of the time between them. */

/** One reading of `/metrics`. Where a name stands with several labels, its values are taken together. */
export class Reading {
  /** Milliseconds. */
  time;
  #values = new Map();
  #buckets = new Map();

  constructor(text, time) {
    this.time = time;
    for (const line of text.split('\n')) {
      const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
      if (name === undefined) continue;
      const bound = /(?:^|,)le="([^"]+)"/.exec(labels)?.[1];
      if (bound === undefined) this.#values.set(name, [...(this.#values.get(name) ?? []), Number(value)]);
      else this.#addBucket(name, bound === '+Inf' ? Infinity : Number(bound), Number(value));
    }
  }

  /** @returns undefined if there is no such metric */
  sum(name) {
    return this.#values.get(name)?.reduce((sum, value) => sum + value, 0);
  }

  max(name) {
    const values = this.#values.get(name);
    return values && Math.max(...values);
  }

  /** Upper bounds with how many were no larger, in ascending order. */
  buckets(name) {
    return [...(this.#buckets.get(`${name}_bucket`) ?? [])].toSorted(([one], [other]) => one - other);
  }

  #addBucket(name, bound, value) {
    const buckets = this.#buckets.get(name) ?? new Map();
    this.#buckets.set(name, buckets.set(bound, (buckets.get(bound) ?? 0) + value));
  }
}

/** Of a counter, per second. @returns undefined if there is none, or if it has begun anew with the process */
export function rate(before, now, name) {
  const grown = now.sum(name) - before.sum(name);
  return grown >= 0 ? (grown * 1000) / (now.time - before.time) : undefined;
}

/**
 * Of what a histogram has taken in between two readings, as Prometheus estimates it: values lie evenly in their bucket.
 *
 * @returns undefined if it has taken in nothing
 */
export function quantile(before, now, name, share) {
  const earlier = new Map(before.buckets(name));
  const grown = now.buckets(name).map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)]);
  const total = grown.at(-1)?.[1] ?? 0;
  if (!(total > 0)) return undefined;
  const rank = share * total;
  let [lower, below] = [0, 0];
  for (const [bound, count] of grown) {
    if (count >= rank) {
      return bound === Infinity ? lower : lower + ((bound - lower) * (rank - below)) / (count - below);
    }
    [lower, below] = [bound, count];
  }
  return undefined;
}
