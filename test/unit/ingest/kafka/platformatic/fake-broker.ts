import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';

/** Keys of requests in Kafka's protocol. */
export const KEY = { handshake: 17, versions: 18, authenticate: 36 };

const NO_TAGS = Buffer.from([0]);

/** A broker that authenticates, as far as the test says, and tells no versions. It ends with the test. */
export class FakeBroker {
  /** Keys of the requests that have come. */
  readonly keys: number[] = [];
  /** What it answers to an authentication. */
  authBytes = Buffer.alloc(0);
  /** For how long a connection may be used before it authenticates again, ms; 0: for ever. */
  sessionMs = 0;
  /** Whether it closes connections in place of an answer. */
  hangsUp = false;
  /** Resolves once the next authentication may begin. */
  mayBegin: Promise<void> = Promise.resolve();
  readonly #server = net.createServer((socket) => this.#serve(socket));

  static async start(t: TestContext): Promise<FakeBroker> {
    const broker = new FakeBroker();
    await once(broker.#server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => broker.#server.close());
    return broker;
  }

  get address() {
    return { host: '127.0.0.1', port: (this.#server.address() as net.AddressInfo).port };
  }

  #serve(socket: net.Socket): void {
    let bytes = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) {
        const request = bytes.subarray(4, 4 + bytes.readInt32BE(0));
        bytes = bytes.subarray(4 + request.length);
        const [key, id] = [request.readInt16BE(0), request.readInt32BE(4)];
        this.keys.push(key);
        if (this.hangsUp) socket.destroy();
        void this.#answer(key).then((body) =>
          socket.write(Buffer.concat([int32(body.length + 4), int32(id), body])),
        );
      }
    });
  }

  async #answer(key: number): Promise<Buffer> {
    const noError = Buffer.alloc(2);
    if (key === KEY.handshake) {
      await this.mayBegin;
      return Buffer.concat([noError, int32(0)]);
    }
    if (key === KEY.versions) return Buffer.concat([noError, Buffer.from([1]), int32(0), NO_TAGS]);
    const noMessage = Buffer.from([0]);
    const length = Buffer.from([this.authBytes.length + 1]);
    const session = Buffer.concat([int32(0), int32(this.sessionMs)]);
    return Buffer.concat([NO_TAGS, noError, noMessage, length, this.authBytes, session, NO_TAGS]);
  }
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
