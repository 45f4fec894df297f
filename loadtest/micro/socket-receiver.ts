/** Reads the bytes of `SocketDestination` in a process of its own, and counts them. Ends with its parent process. */
import { createHash, type Hash } from 'node:crypto';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** The sender makes one request at a time. */
export type ReceiverRequest =
  /** Answered when this number of further bytes have come. */
  | { readonly await: number }
  /** From now on, bytes go into the digest. */
  | { readonly record: true }
  | { readonly digest: true };

export type ReceiverAnswer = number | string;

let received = 0;
let awaited = Number.POSITIVE_INFINITY;
/** Digests in the order in which the sockets have connected. */
let hashes: Hash[] = [];
let recording = false;

const answer = (value: ReceiverAnswer): void => {
  process.send?.(value);
};

function take(socket: Socket): void {
  const index = hashes.push(createHash('sha256')) - 1;
  socket.on('data', (bytes) => {
    received += bytes.length;
    if (recording) hashes[index]?.update(bytes);
    tell();
  });
  socket.on('error', () => undefined);
}

function tell(): void {
  if (received < awaited) return;
  const bytes = awaited;
  received -= bytes;
  awaited = Number.POSITIVE_INFINITY;
  answer(bytes);
}

function digest(): string {
  recording = false;
  const all = createHash('sha256');
  for (const hash of hashes) all.update(hash.digest());
  return all.digest('hex');
}

process.on('message', (request: ReceiverRequest) => {
  if ('await' in request) {
    awaited = request.await;
    tell();
  } else if ('record' in request) {
    hashes = hashes.map(() => createHash('sha256'));
    recording = true;
    answer(0);
  } else {
    answer(digest());
  }
});
process.once('disconnect', () => process.exit());

const server = createServer(take).listen(0, '127.0.0.1', () =>
  answer((server.address() as AddressInfo).port),
);
