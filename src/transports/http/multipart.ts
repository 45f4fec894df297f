import type { FramedResult, FrameFormat } from '../delivery/frame-format.ts';
import { errorOf, type StreamWire } from './stream-wire.ts';

/** Between two parts. It ends a part at once; only the bytes after it tell whether another part follows. */
const DELIMITER = '\r\n--graphql';

const HEADERS = '\r\ncontent-type: application/json\r\n\r\n';

const OPENING = Buffer.from(`${HEADERS}{"payload":`);
const CLOSING = Buffer.from(`}${DELIMITER}`);

class PayloadParts implements FrameFormat {
  length({ json }: FramedResult): number {
    return OPENING.length + json.length + CLOSING.length;
  }

  write(target: Buffer, at: number, { json }: FramedResult): number {
    let end = at;
    end += OPENING.copy(target, end);
    end += json.copy(target, end);
    return end + CLOSING.copy(target, end);
  }

  pieces({ json }: FramedResult): Buffer[] {
    return [OPENING, json, CLOSING];
  }
}

const part = (json: string): string => `${HEADERS}${json}${DELIMITER}`;

const END = '--\r\n';

/** Parts of `multipart/mixed`, in the form of Apollo's protocol for subscriptions over HTTP (`subscriptionSpec=1.0`). */
export const MULTIPART: StreamWire = {
  name: 'multipart',
  contentType: 'multipart/mixed; boundary="graphql"; subscriptionSpec=1.0',
  format: new PayloadParts(),
  opening: () => DELIMITER,
  heartbeat: part('{}'),
  result: (json) => part(`{"payload":${json}}`),
  completed: END,
  closing: (disconnect) => part(JSON.stringify({ payload: null, errors: [errorOf(disconnect)] })) + END,
};
