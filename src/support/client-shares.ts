/** A client may have so many times what is left free: alone it gets three quarters, as one of two three sevenths. */
const TIMES_FREE = 3;

/**
 * What each client has of something that all clients of the process have in common: its channels, say. While much is free
 * no client is refused, since there may be an office behind one address. As it gets scarce, those that have most are
 * refused first, so that no client can take all, however many connections it opens:
 *
 *     taken by the client  ████████████████████████░░░░░░░░  free: the client gets no more, all others do
 *
 * (Switches share out the memory of their ports like this, by a dynamic threshold.)
 */
export class ClientShares {
  /** How much each client has; those that have nothing are not in it. */
  readonly #held = new Map<string, number>();

  /**
   * How much more a client may have.
   *
   * @param client the key of its viewer, or its address; undefined: the gateway does not know it, so it may have all
   * @param free what is left for all clients
   * @param asked what has been counted already of what it asks for now
   */
  roomOf(client: string | undefined, free: number, asked = 0): number {
    if (client === undefined) return free;
    const held = (this.#held.get(client) ?? 0) - asked;
    return Math.min(free, Math.max(0, Math.ceil((TIMES_FREE * free - held) / (TIMES_FREE + 1))));
  }

  /** @param change negative for what it has given back */
  count(client: string | undefined, change: number): void {
    if (client === undefined) return;
    const held = (this.#held.get(client) ?? 0) + change;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }
}

/** Tells a client that it is refused what there is room for still, but only for others. */
export function beyondShareText(what: string): string {
  return `expected a client to take at most three times what this process has left for ${what}, got more`;
}
