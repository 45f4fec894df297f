/** The bytes of one block: of a run, at most 128 KiB; of other data. */
const RUN_BYTES = [128 * 1_024, 4 * 1_024];
const PLAIN_BYTES = 512;

const PLAIN = 0;
const REPEATED = 1;

/** Begins a frame with a window of 128 KiB and without the size of its content. */
const HEADER = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x38]);

/** Compresses data with long runs of one byte, since Node.js has no zstd before 22.15. */
export function zstd(bytes: Buffer): Buffer {
  const parts: Buffer[] = [HEADER];
  const block = (type: number, size: number, data: Buffer): void => {
    const head = Buffer.alloc(3);
    head.writeUIntLE((type << 1) | (size << 3), 0, 3);
    parts.push(head, data);
  };
  for (let at = 0; at < bytes.length;) {
    const size =
      RUN_BYTES.find((length) => isRun(bytes.subarray(at, at + length), length)) ??
      Math.min(PLAIN_BYTES, bytes.length - at);
    if (size > PLAIN_BYTES) block(REPEATED, size, bytes.subarray(at, at + 1));
    else block(PLAIN, size, bytes.subarray(at, at + size));
    at += size;
  }
  parts.push(Buffer.from([1, 0, 0]));
  return Buffer.concat(parts);
}

function isRun(bytes: Buffer, length: number): boolean {
  return bytes.length === length && bytes.subarray(1).equals(bytes.subarray(0, -1));
}
