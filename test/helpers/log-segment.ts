import { open } from 'node:fs/promises';
import path from 'node:path';

/** The position of the length in a record batch's header, after the base offset. It counts all bytes after it. */
const LENGTH_AT = 8;
const HEAD_BYTES = 12;

/**
 * Changes one byte of a record batch on a broker's disk, so that its checksum is wrong; the broker serves it unchecked.
 * A second call repairs the batch.
 *
 * @param folder of the partition
 * @param index of the batch, from 0
 */
export async function flipByteOfBatch(folder: string, index: number): Promise<void> {
  const file = await open(path.join(folder, '00000000000000000000.log'), 'r+');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    let at = 0;
    for (let batch = 0; ; batch += 1) {
      const { bytesRead } = await file.read(head, 0, HEAD_BYTES, at);
      if (bytesRead < HEAD_BYTES)
        throw new Error(`expected ${index + 1} batches in ${folder}, found ${batch}`);
      const end = at + HEAD_BYTES + head.readInt32BE(LENGTH_AT);
      if (batch === index) {
        const byte = Buffer.alloc(1);
        await file.read(byte, 0, 1, end - 2);
        await file.write(Buffer.from([(byte[0] ?? 0) ^ 0xff]), 0, 1, end - 2);
        return;
      }
      at = end;
    }
  } finally {
    await file.close();
  }
}
