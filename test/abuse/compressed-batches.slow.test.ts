import assert from 'node:assert/strict';
import test from 'node:test';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import kafkajs, { CompressionTypes, type Message } from 'kafkajs';
import { compressFrameSync } from 'lz4-napi';
import { compressSync } from 'snappy';
import { range } from '../helpers/numbers.ts';
import { needs } from '../helpers/services.ts';
import { zstd } from '../helpers/zstd.ts';
import { costOf, peakMb } from './inputs/cost.ts';
import { startPod, type Pod } from './inputs/pod.ts';
import { repeated } from './inputs/shapes.ts';

const gzip = promisify(zlib.gzip);
const MB = 1_000_000;

const { GZIP, Snappy, LZ4, ZSTD } = CompressionTypes;
const COMPRESS: Readonly<Record<number, (bytes: Buffer) => Buffer | Promise<Buffer>>> = {
  [GZIP]: (bytes) => gzip(bytes),
  [Snappy]: (bytes) => compressSync(bytes),
  [LZ4]: (bytes) => compressFrameSync(bytes),
  [ZSTD]: zstd,
};

/** MB beyond what the pod has at its start: a fetch may become 64 MiB, beside the one that is processed. */
const MOST_MB = 320;
/** ms that a turn of the pod may take. What an event takes is not looked at: this process makes batches meanwhile. */
const LATEST_MS = 1_000;

const event = (bytes: number, id = 'unwanted'): Message => ({
  partition: 0,
  value: Buffer.concat([Buffer.from(`{"id":"${id}","text":"`), Buffer.alloc(bytes, ' '), Buffer.from('"}')]),
});

interface Attack {
  readonly title: string;
  readonly codec: CompressionTypes;
  /** The messages of one batch. */
  readonly messages: () => Message[];
  readonly batches: number;
  readonly isTooLarge: boolean;
}

const NAMES: Readonly<Record<number, string>> = {
  [GZIP]: 'gzip',
  [Snappy]: 'snappy',
  [LZ4]: 'LZ4',
  [ZSTD]: 'zstd',
};

/** Snappy makes at most 21 bytes of one, LZ4 255: a batch of 1 MB compressed becomes no more. */
const ATTACKS: readonly Attack[] = [
  ...(
    [
      [GZIP, 300],
      [ZSTD, 300],
      [LZ4, 200],
    ] as const
  ).map(([codec, mb]) => ({
    title: `a record of ${mb} MB in ${NAMES[codec]}`,
    codec,
    messages: () => [event(mb * MB)],
    batches: 1,
    isTooLarge: true,
  })),
  ...(
    [
      [GZIP, 200],
      [ZSTD, 1_000],
      [LZ4, 200],
    ] as const
  ).map(([codec, kb]) => ({
    title: `500 records of ${kb} KB in ${NAMES[codec]}`,
    codec,
    messages: () => repeated(event(kb * 1_000), 500),
    batches: 1,
    isTooLarge: true,
  })),
  ...(
    [
      [GZIP, 50],
      [ZSTD, 50],
      [LZ4, 20],
      [Snappy, 15],
    ] as const
  ).map(([codec, mb]) => ({
    title: `30 batches of a record of ${mb} MB in ${NAMES[codec]}`,
    codec,
    messages: () => [event(mb * MB)],
    batches: 30,
    isTooLarge: false,
  })),
  {
    title: '5 batches of 10,000 records in gzip',
    codec: GZIP,
    messages: () => repeated(event(500), 10_000),
    batches: 5,
    isTooLarge: false,
  },
];

async function send({ producer, topics, untilConsumed }: Pod, attack: Attack): Promise<void> {
  const compress = COMPRESS[attack.codec];
  let compressed: Promise<Buffer> | undefined;
  kafkajs.CompressionCodecs[attack.codec as CompressionTypes.GZIP] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) =>
      (compressed ??= Promise.resolve(compress?.(buffer) ?? buffer)),
  });
  const messages = attack.messages();
  for (const _ of range(0, attack.batches)) {
    await producer.send({ topic: topics.item, messages, compression: attack.codec });
  }
  await untilConsumed(topics.item);
}

for (const driver of ['kafkajs', 'platformatic']) {
  test(
    `${driver}: no compressed batch ends a pod or stops it, whatever it becomes`,
    needs('kafka', 'redis'),
    async (t) => {
      const pod = await startPod(t, { KAFKA_DRIVER: driver });
      for (const _ of range(0, 5)) await pod.beat();
      const most = MOST_MB + (await peakMb(pod));
      const failed: string[] = [];
      let bad = 0;
      for (const attack of ATTACKS) {
        const cost = await costOf(pod, () => send(pod, attack));
        const [mb, turn] = [cost.peakMb, cost.longestTurnMs].map(Math.round);
        const cell = `${attack.title}: ${mb} MB, turn ${turn} ms`;
        t.diagnostic(cell);
        if (cost.longestTurnMs > LATEST_MS || cost.peakMb > most) failed.push(cell);
        if (attack.isTooLarge) bad += attack.batches;
        const counted = await pod.gateway.metric('sluice_bad_batches_total');
        if (counted !== bad) failed.push(`${attack.title}: ${counted} bad batches, not ${bad}`);
      }
      assert.deepEqual(failed, [], `expected at most ${Math.round(most)} MB`);
    },
  );
}
