import { ChunkedRequest } from './chunked-request.ts';

/** Node.js's finding in `Connection` and `Upgrade`. Not a field: the base class sets it before fields are created. */
const ASKED = Symbol('asked');

interface Asking {
  [ASKED]?: boolean | null | undefined;
}

/**
 * The request of a server that upgrades only to WebSocket. Once a server listens for upgrades, Node.js takes every request
 * with an `Upgrade` header away from HTTP, also for a protocol that it does not know. HTTP requires servers to ignore protocols
 * that they do not speak.
 *
 * Node.js asks for `upgrade` when the headers have been read, so a request with `upgrade` false continues like any other,
 * with its body and the requests after it. (Node.js 24 has `shouldUpgradeCallback` for this.)
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
