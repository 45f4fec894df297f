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
 * Messages that have come only in part. A client usually sends the rest within milliseconds; if there is no room for all
 * such messages, the connection with the oldest one is closed.
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
