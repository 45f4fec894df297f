/* Runs in the browser: reads Prometheus' text format, and computes rates and quantiles between two readings of it. */

/** One reading of `/metrics`. Values of one name with several labels are combined. */
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

  /** Pairs of an upper bound and the number of values up to it, in ascending order. */
  buckets(name) {
    return [...(this.#buckets.get(`${name}_bucket`) ?? [])].toSorted(([one], [other]) => one - other);
  }

  #addBucket(name, bound, value) {
    const buckets = this.#buckets.get(name) ?? new Map();
    this.#buckets.set(name, buckets.set(bound, (buckets.get(bound) ?? 0) + value));
  }
}

/** @returns the increase of a counter per second; undefined if there is none, or if a restart has reset it */
export function rate(before, now, name) {
  const grown = now.sum(name) - before.sum(name);
  return grown >= 0 ? (grown * 1000) / (now.time - before.time) : undefined;
}

/**
 * A quantile of the values that a histogram has counted between two readings. As in Prometheus, values are assumed to
 * be distributed evenly within their bucket.
 *
 * @returns undefined if no value was counted
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
