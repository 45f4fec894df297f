import {
  isOfViewer,
  isRevocation,
  MAX_REVOCATIONS,
  Revocations,
  type Revocation,
} from '../auth/revocations.ts';
import type { Bus } from '../bus/bus.ts';
import { HttpError } from '../server/http-error.ts';
import type { Connections } from '../transports/connections/connections.ts';
import type { Basics } from './basics.ts';

const AHEAD =
  'expected revocations on the bus of times that have been, got one of minutes to come: it is not taken';

/** Revocations of viewers, from the admin port of any pod to the sockets of all. */
export class Revoking {
  readonly revocations: Revocations;
  readonly #bus: Pick<Bus, 'announce' | 'onAnnouncement'>;
  readonly #basics: Basics;
  readonly #properties: () => readonly string[] | undefined;
  #connections: Pick<Connections, 'revoke'> | undefined;

  /** @param properties that viewers of the graph in force may have, if that is known */
  constructor(
    basics: Basics,
    bus: Pick<Bus, 'announce' | 'onAnnouncement'>,
    properties: () => readonly string[] | undefined,
  ) {
    const { AUTH_CLOCK_TOLERANCE_SECONDS, AUTH_REVOKED_SECONDS } = basics.config;
    this.#basics = basics;
    this.#properties = properties;
    this.#bus = bus;
    this.revocations = new Revocations({
      keepMs: AUTH_REVOKED_SECONDS * 1000,
      toleranceMs: AUTH_CLOCK_TOLERANCE_SECONDS * 1000,
      now: Date.now,
    });
    bus.onAnnouncement((text) => this.#hear(text));
  }

  /** Sets whose connections are closed. */
  of(connections: Pick<Connections, 'revoke'>): void {
    this.#connections = connections;
  }

  /** @throws if other pods may not hear of it */
  readonly revoke = async (revocation: Revocation): Promise<void> => {
    this.#demandProperty(revocation.path);
    if (this.revocations.isFullFor(revocation)) {
      throw new HttpError(
        503,
        `expected at most ${MAX_REVOCATIONS} revocations in AUTH_REVOKED_SECONDS, got more`,
      );
    }
    await this.#bus.announce(JSON.stringify(revocation), this.#basics.config.AUTH_REVOKED_SECONDS * 1000);
    // Over a bus it may take its time, if this pod's connection is lost just now.
    this.#take(revocation);
  };

  /** A path into the token, such as `sub`, would be remembered and do nothing. */
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
    // Behind all clients that are let in within this turn.
    setImmediate(() => {
      this.#connections?.revoke(
        (viewer, issuedAt) =>
          isOfViewer(revocation, viewer) && this.revocations.precedes(issuedAt, revocation.at),
      );
    });
  }
}

function revocationIn(text: string): Revocation | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRevocation(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
