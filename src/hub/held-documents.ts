import { ClientShares } from '../support/client-shares.ts';

/** Bytes that a word of a parsed document takes: measured, 170 to 250, as most words are fields. */
const BYTES_OF_WORD = 200;

interface Parsed {
  readonly query: string;
}

/** The documents of all groups, each counted once: clients may make up new ones, which take memory while in use. */
export class HeldDocuments {
  /** The documents, each with the client that has asked for it first, if it is known. */
  readonly #held = new Map<Parsed, string | undefined>();
  readonly #most: number;
  #shares = new ClientShares();
  #bytes = 0;

  /** @param most bytes that all of them may take */
  constructor(most = Infinity) {
    this.#most = most;
  }

  /** Whether there is no room for one more. */
  isTooMuch(operation: Parsed): boolean {
    return !this.#held.has(operation) && this.#bytes + bytesOf(operation) > this.#most;
  }

  /** Whether one more is beyond the client's share of the room that there is. */
  isBeyondShare(operation: Parsed, client: string | undefined): boolean {
    const free = this.#most - this.#bytes;
    return !this.#held.has(operation) && bytesOf(operation) > this.#shares.roomOf(client, free);
  }

  add(operation: Parsed, client?: string): void {
    if (this.#held.has(operation)) return;
    this.#held.set(operation, client);
    this.#count(client, bytesOf(operation));
  }

  delete(operation: Parsed): void {
    const client = this.#held.get(operation);
    if (this.#held.delete(operation)) this.#count(client, -bytesOf(operation));
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
    this.#shares = new ClientShares();
  }

  #count(client: string | undefined, bytes: number): void {
    this.#bytes += bytes;
    this.#shares.count(client, bytes);
  }
}

/** Estimates the memory of a document's tokens. Strings with spaces take less. */
function bytesOf({ query }: Parsed): number {
  let words = 0;
  let isIn = false;
  for (let index = 0; index < query.length; index += 1) {
    const isPart = isWord(query.charCodeAt(index));
    if (isPart && !isIn) words += 1;
    isIn = isPart;
  }
  return query.length + BYTES_OF_WORD * words;
}

/** Letters, digits, underscores and quotes, and all that is beyond ASCII. */
function isWord(code: number): boolean {
  if (code < 0x41) return code === 0x22 || (code >= 0x30 && code <= 0x39);
  return code <= 0x5a || code === 0x5f || (code >= 0x61 && code <= 0x7a) || code >= 0x80;
}
