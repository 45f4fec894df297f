import type { RawData } from 'ws';
import type { Disconnect } from '../connections/disconnect.ts';
import type { FrameFormat } from '../delivery/frame-format.ts';
import type { ClientMessage } from './client-message.ts';

/** How the messages of a client stand for those of graphql-transport-ws, which graphql-ws speaks. */
export interface Subprotocol {
  /** The format of the results of subscriptions. */
  readonly format: FrameFormat;
  /** @returns the messages that graphql-ws is to be handed; or why the connection is to be closed */
  received(data: RawData, isBinary: boolean): readonly ClientMessage[] | Disconnect;
  /** What is sent for a message of graphql-ws: text. */
  sent(text: string): readonly string[];
  /** Messages that waited for the one that has just been sent, for graphql-ws. */
  released(): readonly ClientMessage[];
  /** What is sent before the connection is closed for a reason. */
  closing(disconnect: Pick<Disconnect, 'reason'>): readonly string[];
  /** What is sent at each heartbeat, beside the ping frame. */
  readonly heartbeat: string | undefined;
}
