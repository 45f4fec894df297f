import type { OutgoingHttpHeaders } from 'node:http';
import type { Disconnect } from '../connections/disconnect.ts';
import type { FrameFormat } from '../delivery/frame-format.ts';

/** What the results of a subscription look like in the body of an HTTP response. All of it is text in UTF-8. */
export interface StreamWire {
  /** The name that operators see. */
  readonly name: string;
  readonly contentType: string;
  /** The format of the results of events. */
  readonly format: FrameFormat;
  /** What the body begins with. */
  opening(): string;
  /** Sent when nothing else is sent, so that no proxy considers the connection idle. */
  readonly heartbeat: string;
  /** A result that belongs to no event: of a query, or the errors that a subscription ended with. */
  result(json: string): string;
  /** The operation has ended. */
  readonly completed: string;
  /** The gateway ends the response, though not the operation. */
  closing(disconnect: Disconnect): string;
}

/** The headers of a response in that form. */
export function streamHeaders({ contentType }: StreamWire, isGzip = false): OutgoingHttpHeaders {
  return {
    'content-type': contentType,
    ...(isGzip && { 'content-encoding': 'gzip' }),
    'cache-control': 'no-store, no-transform',
    // Otherwise nginx would buffer the results until it has many.
    'x-accel-buffering': 'no',
  };
}

/** The reason of a disconnect, as a GraphQL error. */
export function errorOf({ reason, label }: Disconnect): object {
  return { message: reason, extensions: { code: label.toUpperCase() } };
}
