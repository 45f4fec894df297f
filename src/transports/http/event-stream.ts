import type { FramedResult, FrameFormat } from '../delivery/frame-format.ts';
import { errorOf, type StreamWire } from './stream-wire.ts';

const EVENT = Buffer.from('event: next\n');
const ID = Buffer.from('id: ');
const LINE_END = Buffer.from('\n');
const DATA = Buffer.from('data: ');
const MESSAGE_END = Buffer.from('\n\n');

const FIXED_BYTES = EVENT.length + DATA.length + MESSAGE_END.length;

/** `id` is the event's cursor: a browser's EventSource that connects again sends it as the header `Last-Event-ID`. */
class NextEvents implements FrameFormat {
  length({ json, cursor }: FramedResult): number {
    const id = cursor === undefined ? 0 : ID.length + cursor.length + LINE_END.length;
    return FIXED_BYTES + id + json.length;
  }

  write(target: Buffer, at: number, { json, cursor }: FramedResult): number {
    let end = at;
    end += EVENT.copy(target, end);
    if (cursor !== undefined) {
      end += ID.copy(target, end);
      end += target.write(cursor, end, 'latin1');
      end += LINE_END.copy(target, end);
    }
    end += DATA.copy(target, end);
    end += json.copy(target, end);
    return end + MESSAGE_END.copy(target, end);
  }

  pieces({ json, cursor }: FramedResult): Buffer[] {
    const id = cursor === undefined ? '' : `id: ${cursor}\n`;
    return [Buffer.concat([EVENT, Buffer.from(id), DATA]), json, MESSAGE_END];
  }
}

const COMPLETE = 'event: complete\ndata:\n\n';

const message = (json: string): string => `event: next\ndata: ${json}\n\n`;

/** How long a browser's EventSource waits before it reconnects, ms: clients that close together must not return together. */
const LEAST_RETRY_MS = 1_000;
const RETRY_SPREAD_MS = 2_000;

/** Server-sent events, in the form of graphql-sse's mode with one connection for each operation. */
export const EVENT_STREAM: StreamWire = {
  name: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  format: new NextEvents(),
  opening: () => `retry: ${LEAST_RETRY_MS + Math.floor(Math.random() * RETRY_SPREAD_MS)}\n:\n\n`,
  heartbeat: ':\n\n',
  result: message,
  completed: COMPLETE,
  // Clients reconnect if a stream ends before it is complete.
  closing: (disconnect) =>
    disconnect.retry ? '' : message(JSON.stringify({ errors: [errorOf(disconnect)] })) + COMPLETE,
};
