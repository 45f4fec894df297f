import type { Case, Variant } from '../bench.ts';
import { idText, SharedFrames } from '../hub-parts.ts';
import { resultOf } from '../sample-result.ts';
import { wsFrame } from '../ws-frame.ts';

const SUBSCRIBERS = 100;
const SIZES = [200, 2_000, 20_000];

const ids = Array.from({ length: SUBSCRIBERS }, (_, index) => idText(`subscription-${1_000 + index}`));

/** @param frames calls `take` with the frame of each subscriber, in one piece or more */
function variant(name: string, frames: (take: (pieces: readonly Buffer[]) => void) => void): Variant {
  return {
    name,
    sample: () => {
      const all: string[] = [];
      frames((pieces) => all.push(Buffer.concat(pieces).toString('latin1')));
      return all;
    },
    ready: (operations) => () => {
      let bytes = 0;
      for (let n = 0; n < operations; n += 1) {
        frames((pieces) => {
          for (const { length } of pieces) bytes += length;
        });
      }
      return bytes;
    },
  };
}

/** From one result to the frames of all its subscribers. */
export const cases: readonly Case[] = SIZES.map((size) => ({
  name: `a result of ${size.toLocaleString('en')} bytes for ${SUBSCRIBERS}`,
  unit: 'frame',
  units: SUBSCRIBERS,
  open: () => {
    const result = resultOf(size);
    return {
      variants: [
        variant('JSON.stringify and Sender.frame of ws for each', (take) => {
          for (const id of ids) take(wsFrame(result, id));
        }),
        variant('serialised once, framed for each', (take) => {
          const shared = new SharedFrames(result);
          for (const id of ids) take([shared.frame(id)]);
        }),
        variant('serialised and framed once, ids changed', (take) => {
          new SharedFrames(result).framesFor(ids, (frame) => take([frame]));
        }),
      ],
    };
  },
}));
