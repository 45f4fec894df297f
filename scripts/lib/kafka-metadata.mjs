/**
 * Kafka's metadata request, version 4, for no topics. Numbers are big-endian, strings have a 16-bit length, arrays a
 * 32-bit one.
 *
 *   request   size:32 key:16 version:16 correlation:32 client:string topics:[] autoCreate:8
 *   response  size:32 correlation:32 throttle:32 brokers:[id:32 host:string port:32 rack:string] cluster:string
 *             controller:32 …
 */
const METADATA = 3;
const VERSION = 4;
const NO_STRING = -1;

export const METADATA_REQUEST = (() => {
  const request = Buffer.alloc(19);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(METADATA, 4);
  request.writeInt16BE(VERSION, 6);
  request.writeInt16BE(NO_STRING, 12);
  return request;
})();

/**
 * @param {Buffer} received
 * @returns {boolean | undefined} whether a broker is registered and a controller leads; undefined while bytes are missing
 */
export function hasLeader(received) {
  if (received.length < 4 || received.length < 4 + received.readInt32BE(0)) return undefined;
  let at = 12;
  const int32 = () => received.readInt32BE((at += 4) - 4);
  const skipString = () => {
    at += 2 + Math.max(0, received.readInt16BE(at));
  };
  const brokers = int32();
  for (let index = 0; index < brokers; index++) {
    int32();
    skipString();
    int32();
    skipString();
  }
  skipString();
  return brokers > 0 && int32() >= 0;
}
