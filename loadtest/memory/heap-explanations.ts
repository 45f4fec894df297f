/**
 * The objects of a waiting socket that take more than 100 bytes, with the reasons. Keys are names of the summary.
 */
export const EXPLANATIONS: Readonly<Record<string, string>> = {
  Object:
    "graphql-ws's context, subscription table, message and callbacks; listener tables of Socket, WebSocket and Receiver",
  '(array) (object properties) of Object':
    'two of those tables that V8 keeps as dictionaries, since listeners have been removed',
  'Node / TCPSocketWrap': "libuv's handle; outside of what heapUsed counts",
  Socket: 'the TCP connection, of node:net',
  '(array) of Generator':
    "registers of graphql-ws's asynchronous function, which waits for the subscription's end",
  Receiver: "ws's parser of frames",
  WritableState: 'of Socket and Receiver, which are streams',
  'system / Context': "variables that graphql-ws's functions share",
  WebSocket: 'of ws',
  Array: 'lists of listeners, and of what the streams hold: empty ones',
  '(array) (object elements) of Array': 'what such a list holds, or has held',
  Promise: 'what graphql-ws waits for: the pending `next`, and its function itself',
  '(closure) of Promise': 'resolve and reject of the pending `next`',
  Connection: "the gateway's side of a WebSocket",
  '(internal) system / PropertyArray of Object': 'fields that graphql-ws adds to an object after it is made',
};
