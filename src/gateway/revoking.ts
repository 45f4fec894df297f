import { isOfViewer, isRevocation, Revocations, type Revocation } from '../auth/revocations.ts';
import type { Bus } from '../bus/bus.ts';
import { HttpError } from '../server/http-error.ts';
import { tooManyRevocations } from '../server/revoke-route.ts';
import type { Json } from '../lazy/reads.ts';
import type { Basics } from './basics.ts';

const AHEAD =
  'expected revocations on the bus of times that have been, got one of minutes to come: it is not taken';

type RevokingBus = Pick<Bus, 'announce' | 'onAnnouncement' | 'announcementsAreHeard'>;

/** Things that viewers have open, or that wait for their turn: they end when the viewer is revoked. */
interface Revocable {
  /** @param isRevoked is given the viewer and, in seconds, when its token was issued, if that is known */
  revoke(isRevoked: (viewer: Json, issuedAt: number | undefined) => boolean): void;
}

/** Revocations of viewers, from the admin port of any pod to the sockets of all. */
export class Revoking {
  readonly revocations: Revocations;
  readonly #bus: RevokingBus;
  readonly #basics: Basics;
  readonly #properties: () => readonly string[] | undefined;
  #revocables: readonly Revocable[] = [];

  /** @param properties the properties that viewers of the graph in force may have, if known */
  constructor(basics: Basics, bus: RevokingBus, properties: () => readonly string[] | undefined) {
    const { AUTH_CLOCK_TOLERANCE_SECONDS, AUTH_REVOKED_SECONDS } = basics.config;
    this.#basics = basics;
    this.#properties = properties;
    this.#bus = bus;
    this.revocations = new Revocations({
      keepMs: AUTH_REVOKED_SECONDS * 1000,
      toleranceMs: AUTH_CLOCK_TOLERANCE_SECONDS * 1000,
      now: Date.now,
    });
    bus.onAnnouncement((text) => this.#hear(text), {
      texts: () => this.revocations.list().map(textOf),
      keepMs: AUTH_REVOKED_SECONDS * 1000,
    });
  }

  /** Sets the things that a revocation ends. */
  of(...revocables: readonly Revocable[]): void {
    this.#revocables = revocables;
  }

  /** Until this pod has read the revocations that Redis keeps, it refuses all clients with a token. */
  readonly notReady = (): string | undefined =>
    this.#bus.announcementsAreHeard ? undefined : 'the revocations that Redis keeps have not been read yet';

  /** @throws if other pods may not hear of the revocation */
  readonly revoke = async (revocation: Revocation): Promise<void> => {
    this.#demandProperty(revocation.path);
    if (this.revocations.isFullFor(revocation)) throw tooManyRevocations();
    await this.#bus.announce(textOf(revocation), this.#basics.config.AUTH_REVOKED_SECONDS * 1000);
    // Takes it directly: over the bus it may take a while, if this pod has just lost its connection.
    this.#take(revocation);
  };

  /** Takes revocations that the primary keeps, or has received: it has checked them. */
  hear(revocations: readonly Revocation[]): void {
    for (const revocation of revocations) this.#take(revocation);
  }

  /** Refuses a path into the token, such as `sub`: it would be kept without any effect. */
  #demandProperty(path: string): void {
    const [first = ''] = path.split('.');
    const properties = this.#properties();
    if (properties === undefined || properties.includes(first)) return;
    throw new HttpError(
      400,
      `expected path to begin with a property that AUTH_CLAIMS gives to viewers (${properties.join(', ')}), got ${path}`,
    );
  }

  #hear(text: string): void {
    const revocation = revocationIn(text);
    const { log } = this.#basics;
    if (revocation === undefined) log.warn('expected a revocation on the bus, got something else');
    else if (this.revocations.isAhead(revocation)) log.warn({ at: revocation.at }, AHEAD);
    else this.#take(revocation);
  }

  #take(revocation: Revocation): void {
    if (!this.revocations.add(revocation)) return;
    const { metrics, log } = this.#basics;
    metrics.revocations.inc();
    log.info({ path: revocation.path }, 'a viewer is revoked');
    const isRevoked = (viewer: Json, issuedAt: number | undefined): boolean =>
      isOfViewer(revocation, viewer) && this.revocations.precedes(issuedAt, revocation.at);
    // After all clients that are let in during this turn.
    setImmediate(() => {
      for (const revocable of this.#revocables) revocable.revoke(isRevoked);
    });
  }
}

/** Equal revocations have the same text. */
function textOf({ path, value, at }: Revocation): string {
  return JSON.stringify({ path, value, at });
}

function revocationIn(text: string): Revocation | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRevocation(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
