import type { RawData } from 'ws';
import type { Disconnect } from '../connections/disconnect.ts';
import type { FrameFormat } from '../delivery/frame-format.ts';
import type { ClientMessage } from './client-message.ts';

/** Translates between a client's messages and those of graphql-transport-ws, which graphql-ws speaks. */
export interface Subprotocol {
  /** The format of the results of subscriptions. */
  readonly format: FrameFormat;
  /** @returns the messages for graphql-ws; or why the connection has to be closed */
  received(data: RawData, isBinary: boolean): readonly ClientMessage[] | Disconnect;
  /** The texts to send for a message of graphql-ws. */
  sent(text: string): readonly string[];
  /** Messages for graphql-ws that waited for the message just sent. */
  released(): readonly ClientMessage[];
  /** What is sent before the connection is closed for a reason. */
  closing(disconnect: Pick<Disconnect, 'reason'>): readonly string[];
  /** What is sent at each heartbeat, beside the ping frame. */
  readonly heartbeat: string | undefined;
}
