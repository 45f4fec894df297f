import type { ClaimPicker } from '../auth/claims.ts';
import { REVOCATIONS_UNREAD, TokenRefusal } from '../auth/refusal.ts';
import type { Revocations } from '../auth/revocations.ts';
import { findToken } from '../auth/token-source.ts';
import type { HeldToken, Token } from '../auth/token.ts';
import type { TokenVerifier } from '../auth/verifier.ts';
import type { RequestHead } from '../graph/api/context.ts';
import type { Json } from '../lazy/reads.ts';
import type { Authenticator } from './authenticator.ts';

/** Who a client is. */
export interface Identity {
  /** Deep-frozen. */
  readonly viewer: Json;
  /** Undefined if the client has connected without a token. */
  readonly token: Token | undefined;
}

/** The part of an identity that is kept while its connection is open. */
interface Held {
  readonly viewer: Json;
  readonly token: Pick<HeldToken, 'issuedAt'> | undefined;
}

interface TokenAuthenticatorOptions {
  readonly verifier: Pick<TokenVerifier, 'verify'>;
  readonly revocations: Pick<Revocations, 'covers'>;
  /** Whether the pod has read the revocations that were made before it started. */
  readonly revocationsAreRead: () => boolean;
  readonly claims: ClaimPicker;
  /** Name of the cookie that may hold the token. */
  readonly cookie: string | undefined;
  /** Whether clients may connect without a token. */
  readonly anonymous: boolean;
  /** Called for each client that is refused temporarily, as its token can't be verified. */
  readonly keysUnavailable: () => void;
  /** Calls the graph's own `authenticate`. */
  readonly authenticator: Authenticator;
}

const NONE_SENT = new TokenRefusal('Expected a token, got none');
const REFUSED = new TokenRefusal('The graph refuses this identity');
const REVOKED = new TokenRefusal('Access was revoked: a token that was issued since is needed');
const REVOKED_WITHOUT_TIME = new TokenRefusal(
  'Access was revoked: a token that was issued since is needed, with iat; got one without iat',
);

/**
 * Identifies clients by their tokens.
 *
 *     find the token ──► verify it ──► the graph's `authenticate`, or the picked claims ──► not revoked? ──► viewer
 *
 * Revocations are checked last, in the turn in which the client is let in, so that none can come in between.
 */
export class TokenAuthenticator {
  readonly #options: TokenAuthenticatorOptions;

  constructor(options: TokenAuthenticatorOptions) {
    this.#options = options;
  }

  /** Whether the graph, which then gets the request, says who the viewer is. */
  get asksGraph(): boolean {
    return this.#options.authenticator.asksGraph;
  }

  /**
   * Identifies the client of a connection, or of a GraphQL request over HTTP. Never rejects.
   *
   * @param params payload of `connection_init`; empty for a request over HTTP
   */
  async identify(
    params: Readonly<Record<string, unknown>>,
    request: RequestHead,
  ): Promise<Identity | TokenRefusal> {
    const { verifier, cookie, anonymous, keysUnavailable } = this.#options;
    const text = findToken(params, request, cookie);
    if (text instanceof TokenRefusal) return text;
    if (text === undefined && !anonymous) return NONE_SENT;
    const token = text === undefined ? undefined : await verifier.verify(text);
    if (!(token instanceof TokenRefusal)) return this.#withViewer(params, request, token);
    if (token.isTemporary) keysUnavailable();
    return token;
  }

  /**
   * Identifies a client that has sent a fresh token. Never rejects.
   *
   * @param params what the client has sent, `token` included
   * @param request with which the client connected
   */
  async refresh(
    params: Readonly<Record<string, unknown>> & { readonly token: string },
    request: RequestHead,
  ): Promise<Identity | TokenRefusal> {
    const token = await this.#options.verifier.verify(params.token);
    return token instanceof TokenRefusal ? token : this.#withViewer(params, request, token);
  }

  async #withViewer(
    params: Readonly<Record<string, unknown>>,
    request: RequestHead,
    token: Token | undefined,
  ): Promise<Identity | TokenRefusal> {
    const { authenticator, claims } = this.#options;
    const viewer =
      authenticator.asksGraph || token === undefined
        ? await authenticator.viewerOf(params, request, token?.claims)
        : authenticator.interned(claims.viewerOf(token.claims));
    if (viewer === null) return REFUSED;
    const identity = { viewer, token };
    return this.refusalOf(identity) ?? identity;
  }

  /** Why an identity is not valid any more; undefined if it is. To be called again in the turn that uses it. */
  refusalOf({ viewer, token }: Held): TokenRefusal | undefined {
    const { revocations, revocationsAreRead } = this.#options;
    if (token === undefined) return undefined;
    if (!revocationsAreRead()) return REVOCATIONS_UNREAD;
    if (!revocations.covers(viewer, token.issuedAt)) return undefined;
    return token.issuedAt === undefined ? REVOKED_WITHOUT_TIME : REVOKED;
  }
}
