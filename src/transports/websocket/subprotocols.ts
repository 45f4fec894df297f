import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from '#graphql-ws';
import { parseClientMessage } from './client-message.ts';
import { NEXT_FRAMES } from './frame.ts';
import { LEGACY_PROTOCOL, LegacySubprotocol } from './legacy-subprotocol.ts';
import type { Subprotocol } from './subprotocol.ts';

const NONE: readonly never[] = [];

const TRANSPORT_WS: Subprotocol = {
  format: NEXT_FRAMES,
  received(data, isBinary) {
    const message = parseClientMessage(data, isBinary);
    return 'type' in message ? [message] : message;
  },
  sent: (text) => [text],
  released: () => NONE,
  closing: () => NONE,
  heartbeat: undefined,
};

/** Chooses one of the subprotocols that a client has offered; false: none of them is supported. */
export function chosenProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(GRAPHQL_TRANSPORT_WS_PROTOCOL)) return GRAPHQL_TRANSPORT_WS_PROTOCOL;
  return offered.has(LEGACY_PROTOCOL) && LEGACY_PROTOCOL;
}

export function subprotocolOf(name: string): Subprotocol {
  return name === LEGACY_PROTOCOL ? new LegacySubprotocol() : TRANSPORT_WS;
}
