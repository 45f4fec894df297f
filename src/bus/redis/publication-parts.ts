import type { Publication } from '../../events/publisher.ts';

/** Publications that are published together. */
export interface PublicationPart {
  readonly publications: readonly Publication[];
  /** Bytes that Redis sends to a listener of all their channels. */
  readonly bytes: number;
}

/** Bytes that Redis sends with each message besides its channel and payload. */
const FRAME_BYTES = 64;

/**
 * Cuts a batch where its bytes reach a bound; a larger publication is a part by itself.
 *
 * @param wholeEvents never cuts between two publications of one event, which may then be larger together
 */
export function* partsOf(
  batch: readonly Publication[],
  maxBytes: number,
  wholeEvents: boolean,
): Generator<PublicationPart> {
  let start = 0;
  let bytes = 0;
  let payloadBytes = 0;
  for (let index = 0; index < batch.length;) {
    const { payload } = batch[index] as Publication;
    if (payload !== batch[index - 1]?.payload) payloadBytes = Buffer.byteLength(payload);
    const end = wholeEvents ? endOfEvent(batch, index) : index + 1;
    let more = 0;
    for (let at = index; at < end; at += 1) {
      more += payloadBytes + (batch[at] as Publication).channel.length + FRAME_BYTES;
    }
    if (bytes > 0 && bytes + more > maxBytes) {
      yield { publications: batch.slice(start, index), bytes };
      start = index;
      bytes = 0;
    }
    bytes += more;
    index = end;
  }
  if (bytes > 0) yield { publications: start === 0 ? batch : batch.slice(start), bytes };
}

/** Returns the index after the last publication of the event that begins at `start`. */
export function endOfEvent(batch: readonly Publication[], start: number): number {
  const { payload } = batch[start] as Publication;
  let end = start + 1;
  while (batch[end]?.payload === payload) end += 1;
  return end;
}
