import { ChunkedRequest } from './chunked-request.ts';

/** What Node.js has found in `Connection` and `Upgrade`. No field: the base class sets it before fields would be made. */
const ASKED = Symbol('asked');

interface Asking {
  [ASKED]?: boolean | null | undefined;
}

/**
 * The request of a server that upgrades to WebSocket only. Node.js takes every request with an `Upgrade` header away from
 * HTTP once a server listens for upgrades, for any protocol that the header names; HTTP says to ignore protocols that are
 * not spoken.
 *
 * Node.js asks for `upgrade` when the headers have been read, so a request whose `upgrade` is false goes on as any other,
 * with its body and the requests behind it. (Node.js 24 has `shouldUpgradeCallback` for this.)
 */
export class WebSocketRequest extends ChunkedRequest {
  get upgrade(): boolean | null | undefined {
    const asked = (this as Asking)[ASKED];
    return asked === true && this.headers.upgrade?.toLowerCase() !== 'websocket' ? false : asked;
  }

  set upgrade(upgrade: boolean | null | undefined) {
    (this as Asking)[ASKED] = upgrade;
  }
}
