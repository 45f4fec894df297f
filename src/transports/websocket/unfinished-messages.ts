import type { ByteSource } from '../../support/byte-budget.ts';
import { HeldBytes } from '../../support/held-bytes.ts';
import { cutOff } from '../connections/cut-off.ts';
import { DISCONNECTS, type Disconnect } from '../connections/disconnect.ts';

interface Reader {
  readonly open: boolean;
  end(disconnect: Disconnect): void;
  terminate(): void;
}

/**
 * Messages of clients of which only a part has come. A client is done with its own within milliseconds; where there is no
 * room for all of them, the one that has been at it for longest is closed.
 */
export class UnfinishedMessages {
  readonly #held: HeldBytes<Reader>;

  constructor(source: ByteSource) {
    this.#held = new HeldBytes(source, (connection) => {
      this.forget(connection);
      cutOff(connection, DISCONNECTS.unfinished);
    });
  }

  /** @param bytes of the part that has come */
  note(connection: Reader, bytes: number): void {
    if (connection.open && this.#held.set(connection, bytes)) this.#held.limit();
  }

  forget(connection: Reader): void {
    this.#held.set(connection, 0);
  }
}
