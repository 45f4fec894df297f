import type { ExecutionResult } from 'graphql';
import { TokenRefusal } from '../../auth/refusal.ts';
import type { PendingQuery } from '../../context/pending-query.ts';
import type { Identity } from '../../context/token-authenticator.ts';
import type { Json } from '../../lazy/reads.ts';

type RefusalOf = (identity: Identity) => TokenRefusal | undefined;

const REVOKED = new TokenRefusal('Access was revoked');

/** A request of an admitted client, until it is answered. */
export class OpenRequest {
  readonly identity: Identity;
  readonly #refusalOf: RefusalOf;
  #refusal: TokenRefusal | undefined;
  #query: PendingQuery | undefined;

  constructor(identity: Identity, refusalOf: RefusalOf) {
    this.identity = identity;
    this.#refusalOf = refusalOf;
  }

  /** Why it is not answered after all. */
  get refusal(): TokenRefusal | undefined {
    return this.#refusal;
  }

  readonly mayBegin = (): boolean => {
    this.#refusal ??= this.#refusalOf(this.identity);
    return this.#refusal === undefined;
  };

  /** @returns undefined if the connection is closed first, or the viewer revoked */
  resultOf(query: PendingQuery, signal: AbortSignal): Promise<ExecutionResult | undefined> {
    this.#query = query;
    signal.addEventListener('abort', () => query.cancel(), { once: true });
    return query.result();
  }

  /** A query that waits does not begin, and one that has begun is aborted. */
  refuse(refusal: TokenRefusal): void {
    this.#refusal = refusal;
    this.#query?.cancel();
  }
}

/** The requests that are being answered: their viewers may be revoked meanwhile. */
export class OpenRequests {
  readonly #refusalOf: RefusalOf;
  readonly #open = new Set<OpenRequest>();

  /** @param refusalOf why an identity that was let in may not begin any more */
  constructor(refusalOf: RefusalOf) {
    this.#refusalOf = refusalOf;
  }

  /** @param answer is given the request, which is open until it resolves */
  async during<T>(
    identity: Identity,
    answer: (request: OpenRequest) => Promise<T>,
  ): Promise<T | TokenRefusal> {
    const request = new OpenRequest(identity, this.#refusalOf);
    this.#open.add(request);
    const answered = await answer(request).finally(() => this.#open.delete(request));
    return request.refusal ?? answered;
  }

  /** Refuses the requests of a viewer whose access was revoked. See `Connections.revoke`. */
  revoke(isRevoked: (viewer: Json, issuedAt: number | undefined) => boolean): void {
    for (const request of this.#open) {
      const { viewer, token } = request.identity;
      if (isRevoked(viewer, token?.issuedAt)) request.refuse(REVOKED);
    }
  }
}
