import { jsonAt, type Json } from '../../lazy/reads.ts';
import { ClientShares } from '../../support/client-shares.ts';

/** What is open at this moment: in the process, or of one viewer. */
export class Tally {
  connections = 0;
  /** Subscriptions and queries. */
  operations = 0;
}

/** What is open in the process, and the operations by client. */
export class PodTally extends Tally {
  readonly shares = new ClientShares();

  /** @param client see `CappedConnection.client` */
  count(operations: number, client: string | undefined): void {
    this.operations += operations;
    this.shares.count(client, operations);
  }
}

/** What the connections of one viewer have open. */
export class ViewerTally extends Tally {
  readonly key: string;

  constructor(key: string) {
    super();
    this.key = key;
  }

  /** The id that the viewer has. */
  get id(): string {
    return this.key.slice(this.key.indexOf(' ') + 1);
  }
}

/** The connected viewers, by what identifies them. Connections of a viewer share one object. */
export class Viewers {
  readonly #path: readonly string[] | undefined;
  readonly #maxConnections: number;
  readonly #tallies = new Map<string, ViewerTally>();

  /** @param path the setting `VIEWER_ID`; undefined: no viewer is known */
  constructor(path: string | undefined, maxConnections: number) {
    this.#path = path?.split('.');
    this.#maxConnections = maxConnections;
  }

  get size(): number {
    return this.#tallies.size;
  }

  /** @returns undefined for a viewer that nothing identifies; false if it has as many connections as it may */
  enter(viewer: Json): ViewerTally | false | undefined {
    const id = this.#path === undefined ? undefined : jsonAt(viewer, this.#path);
    if (typeof id !== 'string' && typeof id !== 'number') return undefined;
    const key = `${typeof id} ${id}`;
    const tally = this.#tallies.get(key) ?? new ViewerTally(key);
    if (tally.connections >= this.#maxConnections) return false;
    tally.connections += 1;
    this.#tallies.set(key, tally);
    return tally;
  }

  leave(tally: ViewerTally): void {
    tally.connections -= 1;
    if (tally.connections === 0) this.#tallies.delete(tally.key);
  }
}
