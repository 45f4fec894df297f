/**
 * Kafka's request for the coordinator of a consumer group, version 1. It makes a new broker set up the topic that
 * groups need, and succeeds when members can join: later than the broker accepts connections or lists topics.
 *
 *   request   size:32 key:16 version:16 correlation:32 client:string group:string type:8
 *   response  size:32 correlation:32 throttle:32 error:16 …
 */
const FIND_COORDINATOR = 10;
const VERSION = 1;
const NO_STRING = -1;
const GROUP = 'probe';

export const PROBE = (() => {
  const request = Buffer.alloc(17 + GROUP.length);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(FIND_COORDINATOR, 4);
  request.writeInt16BE(VERSION, 6);
  request.writeInt16BE(NO_STRING, 12);
  request.writeInt16BE(GROUP.length, 14);
  request.write(GROUP, 16);
  return request;
})();

const ERROR_AT = 12;

/**
 * @param {Buffer} received
 * @returns {boolean | undefined} whether the broker is ready; undefined while bytes are missing
 */
export const isReady = (received) =>
  received.length < ERROR_AT + 2 ? undefined : received.readInt16BE(ERROR_AT) === 0;
