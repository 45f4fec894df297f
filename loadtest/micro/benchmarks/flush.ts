import type { Case, Variant } from '../bench.ts';
import type { Destination } from '../destination.ts';
import { idText, sendQueueMaker, SharedFrames } from '../hub-parts.ts';
import { NullDestination } from '../null-destination.ts';
import { resultOf } from '../sample-result.ts';
import { SocketDestination } from '../socket-destination.ts';
import { wsFrame } from '../ws-frame.ts';

const SOCKETS = 200;

/** Few enough that the bytes under way stay far below what sockets buffer: no variant waits for its sockets. */
const TURNS_UNDER_WAY = 8;

/** Results that become ready in one turn of the event loop, for all sockets. */
type Results = readonly ReturnType<typeof resultOf>[];

function variant(name: string, destination: Destination, bytesOfTurn: number, sendTurn: () => void): Variant {
  const send = async (turns: number): Promise<number> => {
    let bytes = 0;
    for (let turn = 1; turn <= turns; turn += 1) {
      sendTurn();
      await new Promise((resolve) => setImmediate(resolve));
      if (turn % TURNS_UNDER_WAY === 0 || turn === turns) {
        bytes += await destination.received(turn * bytesOfTurn - bytes);
      }
    }
    return bytes;
  };
  return {
    name,
    sample: () => destination.digest(() => send(2)),
    ready: (operations) => () => send(operations),
  };
}

function variantsTo(destination: Destination, results: Results): Variant[] {
  const sendQueueTo = sendQueueMaker();
  const sockets = destination.sinks.map((sink, index) => {
    const id = idText(`subscription-${1_000 + index}`);
    const ready = Buffer.concat(results.flatMap((result) => wsFrame(result, id)));
    return { sink, id, sendQueue: sendQueueTo(sink), ready };
  });
  const bytesOfTurn = sockets.reduce((sum, { ready }) => sum + ready.length, 0);
  const way = (name: string, sendTurn: () => void): Variant =>
    variant(name, destination, bytesOfTurn, sendTurn);
  return [
    way('ws: stringify, frame and write for each', () => {
      for (const result of results) for (const { sink, id } of sockets) sink.write(...wsFrame(result, id));
    }),
    way('shared bytes, a write for each', () => {
      for (const result of results) {
        const shared = new SharedFrames(result);
        for (const { sink, id } of sockets) sink.write(shared.frame(id));
      }
    }),
    way('send queue: shared bytes, a write a turn', () => {
      for (const result of results) {
        const shared = new SharedFrames(result);
        for (const { sendQueue, id } of sockets) shared.addTo(sendQueue, id);
      }
    }),
    way('floor: bytes made before, a write a turn', () => {
      for (const { sink, ready } of sockets) sink.write(ready);
    }),
  ];
}

const DESTINATIONS: Readonly<Record<string, () => Destination | Promise<Destination>>> = {
  'no sockets': () => new NullDestination(SOCKETS),
  'loopback sockets': () => SocketDestination.open(SOCKETS),
};

/** From results to bytes in the sockets; another process reads them. */
export const cases: readonly Case[] = Object.entries(DESTINATIONS).flatMap(([where, open]) =>
  [200, 2_000].flatMap((size) =>
    [1, 16].map((count) => ({
      name: `${where}, ${count} × ${size.toLocaleString('en')} bytes a turn`,
      unit: 'delivery',
      units: SOCKETS * count,
      open: async () => {
        const destination = await open();
        const results = Array.from({ length: count }, () => resultOf(size));
        return { variants: variantsTo(destination, results), close: () => destination.close() };
      },
    })),
  ),
);
