import { REVOCATIONS_UNREAD, TokenRefusal } from '../../auth/refusal.ts';
import { haveSameSubject, heldOf, type HeldToken } from '../../auth/token.ts';
import type { Identity, TokenAuthenticator } from '../../context/token-authenticator.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import type { Json } from '../../lazy/reads.ts';
import type { Log } from '../../log.ts';
import { LogThrottle } from '../../support/log-throttle.ts';
import { DISCONNECTS, type Disconnect } from './disconnect.ts';
import type { ClientSubscription } from '../delivery/client-subscription.ts';

/** The part of a connection that its session uses. */
export interface SessionOwner {
  readonly open: boolean;
  readonly viewer: Json;
  /** Who the client is, from now on. */
  become(viewer: Json): void;
  /**
   * The token is about to expire: the client is told, if the transport can.
   *
   * @param at seconds since 1970
   */
  tokenExpires(at: number): void;
  end(disconnect: Disconnect): void;
}

/** What a client sends as `auth` in the payload of a `ping` or `pong`. */
type FreshToken = Readonly<Record<string, unknown>> & { readonly token: string };

/** The token of one connection, for as long as it is open. */
interface Session {
  token: HeldToken;
  /** ms since 1970: when to warn the client, or to close the connection if it has been warned. */
  dueAt: number;
  isWarned: boolean;
  /** Kept only if the graph is asked again about a fresh token. */
  readonly request: RequestHead | undefined;
  readonly subscriptions: Set<ClientSubscription>;
  /** A fresh token is being verified. */
  isRefreshing: boolean;
  /** The last fresh token that came meanwhile. */
  next: FreshToken | undefined;
  /** The last fresh token could not be verified, but may be valid. */
  isUnverified: boolean;
}

export interface SessionsOptions {
  readonly authenticator: Pick<TokenAuthenticator, 'identify' | 'refresh' | 'refusalOf' | 'asksGraph'>;
  readonly warnMs: number;
  readonly graceMs: number;
  readonly toleranceMs: number;
  readonly now: () => number;
  readonly log: Log;
}

/** Connections warned or closed in a turn: closing ends subscriptions, and thousands of tokens may expire together. */
const AT_ONCE = 10;

/** Limits log lines about tokens that can't be verified: clients may send one after the other. */
const LOG_BOUND = { lines: 1, periodMs: 60_000 };

/** The request that `authenticate` gets if the real one is not kept, as no graph looks at it. */
const NO_REQUEST: RequestHead = { headers: {}, url: '', remoteAddress: undefined };

/**
 * The tokens of all connections, for as long as the connections are open:
 *
 *     admitted ──► warned ──► token expires ──► grace ──► closed with 4403, or 1013 if a fresh one can't be verified
 *        ▲           │              │             │
 *        └───────────┴─ fresh token ┴─────────────┘
 *
 * One check looks at all of them. A connection without a token has no session, and is not looked at.
 */
export class Sessions<Owner extends SessionOwner> {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<Owner, Session>();
  readonly #unverified: LogThrottle;
  /** Whether sessions are left to be checked in the next turn. */
  #isChecking = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#unverified = new LogThrottle({ ...LOG_BOUND, now: options.now });
  }

  /**
   * Identifies a client that connects.
   *
   * @returns false if it is refused: the connection is then closed, and the client told why
   */
  async admit(
    owner: Owner,
    params: Readonly<Record<string, unknown>>,
    request: RequestHead,
  ): Promise<boolean> {
    const { authenticator } = this.#options;
    const identity = await authenticator.identify(params, request);
    if (identity instanceof TokenRefusal) {
      owner.end({ ...disconnectOf(identity), reason: identity.reason });
      return false;
    }
    if (!owner.open) return false;
    owner.become(identity.viewer);
    this.begin(owner, identity, request);
    return true;
  }

  /** Begins to watch the token of a client that has been identified. */
  begin(owner: Owner, { token }: Identity, request: RequestHead): void {
    const { authenticator } = this.#options;
    if (token === undefined) return;
    this.#sessions.set(owner, {
      token: heldOf(token),
      dueAt: this.#warnsAt(token),
      isWarned: false,
      request: authenticator.asksGraph ? request : undefined,
      subscriptions: new Set(),
      isRefreshing: false,
      next: undefined,
      isUnverified: false,
    });
  }

  /** Why a client that was identified in an earlier turn is refused after all; undefined: it is not. */
  refusalOf(identity: Identity): TokenRefusal | undefined {
    return this.#options.authenticator.refusalOf(identity);
  }

  /** Whether the viewer of a connection has been revoked; the connection is about to be closed. */
  isRevoked(owner: Owner): boolean {
    const token = this.#sessions.get(owner)?.token;
    return this.#options.authenticator.refusalOf({ viewer: owner.viewer, token }) !== undefined;
  }

  forget(owner: Owner): void {
    this.#sessions.delete(owner);
  }

  joined(owner: Owner, subscription: ClientSubscription): void {
    this.#sessions.get(owner)?.subscriptions.add(subscription);
  }

  left(owner: Owner, subscription: ClientSubscription): void {
    this.#sessions.get(owner)?.subscriptions.delete(subscription);
  }

  /** When the current token of a connection was issued, in seconds; undefined if that is not known. */
  issuedAt(owner: Owner): number | undefined {
    return this.#sessions.get(owner)?.token.issuedAt;
  }

  /**
   * Takes the payload of a `ping` or `pong`.
   *
   * @returns the payload of the answer to a ping: never a token
   */
  receive(owner: Owner, payload: Readonly<Record<string, unknown>> | undefined): object | undefined {
    const auth = payload?.['auth'];
    const session = this.#sessions.get(owner);
    if (session === undefined || typeof auth !== 'object' || auth === null) {
      return auth === undefined ? payload : undefined;
    }
    if (isFreshToken(auth)) {
      session.next = auth;
      if (!session.isRefreshing) void this.#refresh(owner, session);
    }
    return undefined;
  }

  /** Warns if tokens expire soon, and closes connections with expired ones: some now, the others in the next turns. */
  check(): void {
    if (this.#isChecking) return;
    const now = this.#options.now();
    let acted = 0;
    for (const [owner, session] of this.#sessions) {
      if (session.dueAt > now || !owner.open) continue;
      if (acted === AT_ONCE) return this.#goOnChecking();
      acted += 1;
      if (session.isWarned) this.#expire(owner, session);
      else this.#warn(owner, session);
    }
  }

  #goOnChecking(): void {
    this.#isChecking = true;
    setImmediate(() => {
      this.#isChecking = false;
      this.check();
    });
  }

  #warn(owner: Owner, session: Session): void {
    const { graceMs, toleranceMs } = this.#options;
    const { expiresAt } = session.token;
    session.isWarned = true;
    session.dueAt = expiresAt * 1000 + toleranceMs + graceMs;
    owner.tokenExpires(expiresAt);
  }

  #expire(owner: Owner, { token, isUnverified }: Session): void {
    if (isUnverified) {
      owner.end(DISCONNECTS.keysUnavailable);
      return;
    }
    const at = new Date(token.expiresAt * 1000).toISOString();
    owner.end({ ...DISCONNECTS.tokenExpired, reason: `The token expired at ${at}, and no fresh one came` });
  }

  /** When to warn, never before half of the token's time: a client with short-lived tokens would get endless warnings. */
  #warnsAt({ expiresAt }: HeldToken): number {
    const { warnMs, now } = this.#options;
    const left = Math.max(expiresAt * 1000 - now(), 0);
    return now() + left - Math.min(warnMs, left / 2);
  }

  /** Verifies one token at a time; of several that came meanwhile, only the last one. Never rejects. */
  async #refresh(owner: Owner, session: Session): Promise<void> {
    const { authenticator } = this.#options;
    session.isRefreshing = true;
    for (let fresh = session.next; fresh !== undefined; fresh = session.next) {
      session.next = undefined;
      const identity = await authenticator.refresh(fresh, session.request ?? NO_REQUEST);
      if (!owner.open) return;
      if (!(identity instanceof TokenRefusal)) this.#replace(owner, session, identity);
      else if (identity.isTemporary) this.#keepUnverified(session, identity);
      else owner.end({ ...DISCONNECTS.tokenRefused, reason: identity.reason });
    }
    session.isRefreshing = false;
  }

  #keepUnverified(session: Session, { reason }: TokenRefusal): void {
    session.isUnverified = true;
    const suppressed = this.#unverified.admit();
    if (suppressed === undefined) return;
    this.#options.log.warn({ reason, suppressed }, 'a fresh token can not be verified');
  }

  /** The viewer and all subscriptions change within this turn: no event comes in between. */
  #replace(owner: Owner, session: Session, { viewer, token }: Identity): void {
    if (token === undefined) return;
    const previous = owner.viewer;
    const isChanged = viewer !== previous && JSON.stringify(viewer) !== JSON.stringify(previous);
    if (!(haveSameSubject(session.token, token) ?? !isChanged)) {
      owner.end(DISCONNECTS.otherIdentity);
      return;
    }
    session.token = heldOf(token);
    session.isWarned = false;
    session.isUnverified = false;
    session.dueAt = this.#warnsAt(token);
    if (!isChanged) return;
    owner.become(viewer);
    for (const subscription of session.subscriptions) subscription.viewerChanged(previous);
  }
}

function disconnectOf(refusal: TokenRefusal): Disconnect {
  if (refusal === REVOCATIONS_UNREAD) return DISCONNECTS.revocationsUnread;
  return refusal.isTemporary ? DISCONNECTS.keysUnavailable : DISCONNECTS.tokenRefused;
}

function isFreshToken(auth: object): auth is FreshToken {
  return typeof (auth as { token?: unknown }).token === 'string';
}
