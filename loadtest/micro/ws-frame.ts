import * as ws from 'ws';

interface FrameOptions {
  readonly fin: boolean;
  readonly rsv1: boolean;
  readonly opcode: number;
  readonly mask: boolean;
  readonly readOnly: boolean;
}

/** ws exports it, but its types do not. */
const { Sender } = ws as unknown as {
  readonly Sender: { frame(data: Buffer, options: FrameOptions): Buffer[] };
};

const TEXT: FrameOptions = { fin: true, rsv1: false, opcode: 1, mask: false, readOnly: false };

/** A `next` message as graphql-ws and ws make it for each subscriber, except that the payload comes first. */
export function wsFrame(payload: object, id: string): Buffer[] {
  return Sender.frame(Buffer.from(JSON.stringify({ payload, id, type: 'next' })), TEXT);
}
