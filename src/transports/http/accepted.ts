import { EVENT_STREAM } from './event-stream.ts';
import { MULTIPART } from './multipart.ts';
import type { StreamWire } from './stream-wire.ts';

/** The responses that a client accepts, by its header `accept`. */
export interface Accepted {
  /** The wire in which it accepts the results of a subscription; undefined: none. */
  readonly wire: StreamWire | undefined;
  /** Whether it accepts a single, whole response. */
  readonly json: boolean;
}

const JSON_TYPES = new Set(['*/*', 'application/*', 'application/json', 'application/graphql-response+json']);

const NONE = /^q=0(\.0*)?$/;

/** @param accept the header; absent: the client accepts everything, and gets JSON */
export function acceptedBy(accept: string | undefined): Accepted {
  let wire: StreamWire | undefined;
  let json = accept === undefined;
  for (const range of accept?.toLowerCase().split(',') ?? []) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (parameters.some((parameter) => NONE.test(parameter))) continue;
    json ||= JSON_TYPES.has(type);
    wire ??= wireOf(type, parameters);
  }
  return { wire, json };
}

/** @param acceptEncoding the header; absent: the client has not said that it can unpack anything */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return (acceptEncoding?.toLowerCase().split(',') ?? []).some((coding) => {
    const [name, ...parameters] = coding.split(';').map((part) => part.trim());
    return name === 'gzip' && !parameters.some((parameter) => NONE.test(parameter));
  });
}

function wireOf(type: string, parameters: readonly string[]): StreamWire | undefined {
  if (type === 'text/event-stream') return EVENT_STREAM;
  // Without the parameter, `multipart/mixed` is for query results in parts.
  const isMultipart =
    type === 'multipart/mixed' &&
    parameters.some((parameter) => /^subscriptionspec="?1\.0"?$/.test(parameter));
  return isMultipart ? MULTIPART : undefined;
}
