/**
 * A `next` message of graphql-transport-ws as one WebSocket frame, cut where it stops being the same for everyone:
 *
 *     ┌────────┬────────────┬───────────────┬──────────────────────────┐
 *     │ header │ {"payload":│ {"data":{…}}  │ ,"id":"…","type":"next"} │
 *     └────────┴────────────┴───────────────┴──────────────────────────┘
 *      shared by all subscribers whose id is as long     one subscriber's
 *
 * Frames from a server are not masked (RFC 6455, 5.1), so the bytes on the wire are these.
 */

/** FIN, text. */
const TEXT_FRAME = 0x81;
const LENGTH_IN_16_BITS = 126;
const LENGTH_IN_64_BITS = 127;

const OPENING = Buffer.from('{"payload":');

/** @param suffixLength bytes of the subscriber's part that will follow */
export function framePrefix(json: Buffer, suffixLength: number): Buffer {
  const header = frameHeader(OPENING.length + json.length + suffixLength);
  return Buffer.concat([header, OPENING, json]);
}

/** One subscriber's part, made once per subscription. */
export function frameSuffix(id: string): Buffer {
  return Buffer.from(`,"id":${JSON.stringify(id)},"type":"next"}`);
}

function frameHeader(length: number): Buffer {
  if (length < LENGTH_IN_16_BITS) return Buffer.of(TEXT_FRAME, length);
  if (length <= 0xffff) return Buffer.of(TEXT_FRAME, LENGTH_IN_16_BITS, length >> 8, length & 0xff);
  const header = Buffer.alloc(10);
  header.writeUInt8(TEXT_FRAME, 0);
  header.writeUInt8(LENGTH_IN_64_BITS, 1);
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}
