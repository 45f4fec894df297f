export class BodyTooLarge extends Error {}

/** Reads the text of a response. @throws BodyTooLarge if the text is longer than `maxBytes` */
export async function readBody({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw new BodyTooLarge(`expected at most ${maxBytes} bytes, got more`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
