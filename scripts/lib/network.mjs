/** Network functions for starting and finding services. */
import { connect, createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';
const CONNECT_TIMEOUT_MS = 2_000;

/** @returns {Promise<number>} a port of the loopback interface on which no server listens now */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, LOOPBACK, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** @returns {Promise<boolean>} whether a server accepts connections at this address */
export async function accepts(host, port) {
  return (await exchange(host, port, undefined, () => true)) === true;
}

/**
 * Sends one request and reads until the answer is complete.
 *
 * @template T
 * @param {Buffer | undefined} request undefined: the connection is answer enough
 * @param {(received: Buffer) => T | undefined} parse undefined while bytes are missing
 * @returns {Promise<T | undefined>} undefined if there was no answer
 */
export function exchange(host, port, request, parse) {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const socket = connect({ host, port });
    const finish = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => finish());
    socket.once('error', () => finish());
    socket.once('close', () => finish());
    socket.once('connect', () => (request === undefined ? finish(parse(received)) : socket.write(request)));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const answer = parse(received);
      if (answer !== undefined) finish(answer);
    });
  });
}
