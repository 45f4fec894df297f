/** A client may have three times what is free: a single client gets three quarters, each of two three sevenths. */
const TIMES_FREE = 3;

/**
 * Each client's share of something that all clients of the process have in common, such as channels. While much is
 * free, no client is refused, since a whole office may have one address. When little is free, the clients that have
 * most are refused first, so that no client can take all, however many connections it opens:
 *
 *     taken by the client  ████████████████████████░░░░░░░░  free: the client gets no more, all others do
 *
 * (Network switches divide their buffers between ports in the same way, by a dynamic threshold.)
 */
export class ClientShares {
  /** Amounts by client. A client that has nothing has no entry. */
  readonly #held = new Map<string, number>();

  /**
   * Returns how much more a client may take.
   *
   * @param client the key of its viewer, or its address; undefined: the gateway does not know it, so it may have all
   * @param free what is left for all clients
   * @param asked the part of the client's present request that has been counted already
   */
  roomOf(client: string | undefined, free: number, asked = 0): number {
    if (client === undefined) return free;
    const held = (this.#held.get(client) ?? 0) - asked;
    return Math.min(free, Math.max(0, Math.ceil((TIMES_FREE * free - held) / (TIMES_FREE + 1))));
  }

  /** @param change negative if the client has given something back */
  count(client: string | undefined, change: number): void {
    if (client === undefined) return;
    const held = (this.#held.get(client) ?? 0) + change;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }
}

/** Tells a client that there is room left, but only for other clients. */
export function beyondShareText(what: string): string {
  return `expected a client to take at most three times what this process has left for ${what}, got more`;
}
